import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERRORS, tellProblem, type Problem } from '../../packages/client/src/index.ts'
import { catalogues, pickLanguage } from '../../packages/web/src/i18n/language.ts'
import { textIn } from '../../packages/web/src/i18n/problems.ts'

type Leaf = { path: string; value: string | ((...args: never[]) => unknown) }

function leaves(node: unknown, path: string): Leaf[] {
  if (typeof node === 'string') return [{ path, value: node }]
  if (typeof node === 'function') return [{ path, value: node as (...args: never[]) => unknown }]
  return Object.entries(node as object).flatMap(([name, value]) => leaves(value, path === '' ? name : `${path}.${name}`))
}

/** Texts that are the same in every language: names, units, signs. */
const SHARED = new Set(['unchangedLines', 'protocols.anthropic', 'protocols.openai-chat', 'protocols.openai-responses', 'hintTouch.send'])

test('both languages have the same words, and none is empty or left in English', () => {
  const { errors: _, ...english } = catalogues.en
  const { errors: __, ...chinese } = catalogues.zh
  const inEnglish = leaves(english, '')
  const inChinese = new Map(leaves(chinese, '').map((leaf) => [leaf.path, leaf.value]))
  assert.deepEqual(
    inEnglish.map((leaf) => leaf.path),
    [...inChinese.keys()].toSorted(
      (a, b) => inEnglish.findIndex((leaf) => leaf.path === a) - inEnglish.findIndex((leaf) => leaf.path === b),
    ),
  )
  for (const { path, value } of inEnglish) {
    const other = inChinese.get(path)
    assert.equal(typeof other, typeof value, path)
    if (typeof value !== 'string' || typeof other !== 'string' || SHARED.has(path)) continue
    assert.notEqual(other, '', path)
    assert.notEqual(other, value, path)
  }
})

test('every error code has its Chinese title and advice', () => {
  for (const [code, { advice }] of Object.entries(ERRORS)) {
    const known = catalogues.zh.errors[code]
    assert.ok(known !== undefined && known.title !== '', code)
    assert.ok(advice !== '', code)
  }
})

test('a refusal says what it is about, and of a request that cannot be taken nothing else', () => {
  const problem = { type: '', title: '', status: 400, retryable: false } as const
  const empty: Problem = { ...problem, code: 'INVALID_REQUEST', detail: 'The message is empty.' }
  assert.equal(textIn(catalogues.en, empty), 'The message is empty.')
  assert.equal(tellProblem(empty), 'The message is empty.')
  const full: Problem = { ...problem, code: 'QUEUE_FULL', detail: '100 wait.' }
  assert.equal(textIn(catalogues.en, full), 'The queue of this session is full: 100 wait.')
  assert.equal(textIn(catalogues.zh, full), '此会话的队列已满: 100 wait.')
})

test('counts are said rightly', () => {
  assert.equal(catalogues.en.heldCount(1), '1 message is held')
  assert.equal(catalogues.en.heldCount(3), '3 messages are held')
  assert.equal(catalogues.zh.heldCount(3), '3 条消息被搁置')
  assert.equal(catalogues.en.retrying(2, 10, 4), 'The provider failed; try 2 of 10 in 4 s')
  assert.equal(catalogues.en.retrying(2, null, 0), 'The provider failed; try 2')
})

test('the language is the chosen one, else the browser’s where it is there', () => {
  assert.equal(pickLanguage(null, ['zh-TW', 'en']), 'zh')
  assert.equal(pickLanguage(null, ['de', 'zh']), 'en')
  assert.equal(pickLanguage('en', ['zh']), 'en')
  assert.equal(pickLanguage(null, []), 'en')
})
