import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startPracticeServer, type PracticeServer } from '../../packages/runtime/src/models/practice/server.ts'
import { assistant, callsOf, KEY, post, postRaw, results, textOf, user, type Answer, type Message } from './client.ts'

let server: PracticeServer
const folder = mkdtempSync(join(tmpdir(), 'practice-'))
const logFile = join(folder, 'log.jsonl')
before(async () => {
  server = await startPracticeServer({ log: logFile, dripMs: 1 })
})
after(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

const ask = (text: string, session = text): Promise<Answer> =>
  post(server.url, [user(text)], { headers: { 'x-claude-code-session-id': session } })

test('a person without a script sees thinking, a text and a look into the workspace, then the result', async () => {
  const first = await post(server.url, [user('Hello')])
  assert.deepEqual(
    first.content.map((block) => block.type),
    ['thinking', 'text', 'tool_use'],
  )
  assert.match(textOf(first), /practice/)
  assert.ok((first.content[0]?.signature ?? '').length > 0)
  const [call] = callsOf(first)
  assert.equal(call?.name, 'Bash')
  const second = await post(server.url, [user('Hello'), assistant(first), results(first, 'README.md\nsrc')])
  assert.deepEqual(callsOf(second), [])
  assert.match(textOf(second), /practice[\s\S]*README\.md\nsrc/)
})

test('asked for a note it writes one, then reads it back, then ends', async () => {
  const prompt = user('please write a note')
  const system = 'Environment\nPrimary working directory: /some/where\nmore'
  const history: Message[] = [prompt]
  const names: (string | undefined)[] = []
  for (let round = 0; round < 3; round++) {
    const answer = await post(server.url, history, { body: { system } })
    const [call] = callsOf(answer)
    names.push(call?.name)
    if (call?.name === 'Write') assert.equal(JSON.stringify(call.input).includes('/some/where/practice-note.md'), true)
    if (call !== undefined) history.push(assistant(answer), results(answer, 'ok'))
  }
  assert.deepEqual(names, ['Write', 'Read', undefined])
})

test('without thinking asked for, the free answer has none', async () => {
  const answer = await post(server.url, [user('Hello')], { body: { thinking: { type: 'disabled' } } })
  assert.deepEqual(
    answer.content.map((block) => block.type),
    ['text', 'tool_use'],
  )
})

test('a script is played round by round, with the position taken from the history alone', async () => {
  const prompt = user(
    '#practice: think "hm"; say "one"; tool Bash {"command":"a"}; tool Bash {"command":"b"}; say "got $result"; tool Read {"file_path":"/f"}',
  )
  const first = await post(server.url, [prompt])
  assert.deepEqual(
    callsOf(first).map((call) => call.input),
    [{ command: 'a' }, { command: 'b' }],
  )
  assert.equal(first.events.at(-2)?.delta?.stop_reason, 'tool_use')
  const history = [prompt, assistant(first), results(first, 'A', 'B')]
  const second = await post(server.url, history)
  assert.equal(textOf(second), 'got A\nB')
  const again = await post(server.url, history)
  assert.equal(textOf(again), 'got A\nB')
  const last = await post(server.url, [...history, assistant(second), results(second, 'C')])
  assert.match(textOf(last), /script is over.*C/)
  assert.equal(last.events.at(-2)?.delta?.stop_reason, 'end_turn')
})

test('the same script sent again starts again, with fresh call ids', async () => {
  const prompt = user('#practice: tool Bash {"command":"x"}; say "end"')
  const first = await post(server.url, [prompt])
  const end = await post(server.url, [prompt, assistant(first), results(first, 'r')])
  const again = await post(server.url, [prompt, assistant(first), results(first, 'r'), assistant(end), prompt])
  assert.equal(callsOf(again).length, 1)
  assert.notEqual(callsOf(again)[0]?.id, callsOf(first)[0]?.id)
})

test('a call with an id of its own keeps it, and the script still finds its place', async () => {
  const prompt = user('#practice: tool Bash {"command":"x"} id=toolu_mine; say "end"')
  const first = await post(server.url, [prompt])
  assert.equal(callsOf(first)[0]?.id, 'toolu_mine')
  const end = await post(server.url, [prompt, assistant(first), results(first, 'r')])
  assert.equal(textOf(end), 'end')
})

test('words an agent slips in with a result are seen, and a script among them takes over', async () => {
  const prompt = user('#practice: tool Bash {"command":"x"}; say "heard: $context"')
  const first = await post(server.url, [prompt])
  const steered = (steer: string): Message[] => [
    prompt,
    assistant(first),
    results(first, `out\n\n<system-reminder>\nPostToolBatch hook additional context: ${steer}\n</system-reminder>`),
  ]
  assert.equal(textOf(await post(server.url, steered('turn left'))), 'heard: turn left')
  assert.equal(textOf(await post(server.url, steered('#practice: say "changed course"'))), 'changed course')
})

test('news of a background task is answered by the steps behind notice, and freely without them', async () => {
  const news: Message = {
    role: 'user',
    content: [
      { type: 'text', text: '<system-reminder>\n<task-notification><summary>it is done</summary></task-notification>\n</system-reminder>' },
    ],
  }
  const prompt = user('#practice: tool Bash {"command":"x"}; notice; say "so it is"')
  const first = await post(server.url, [prompt])
  const second = await post(server.url, [prompt, assistant(first), results(first, '')])
  assert.match(textOf(second), /script is over/)
  assert.equal(textOf(await post(server.url, [prompt, assistant(first), results(first, ''), assistant(second), news])), 'so it is')
  assert.match(
    textOf(await post(server.url, [user('Hello'), { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }, news])),
    /practice model heard: it is done/,
  )
})

test('what is left after a compaction is a summary, and no prompt', async () => {
  const answer = await post(server.url, [
    user('This session is being continued from a previous conversation that ran out of context. Please write a note.'),
  ])
  assert.deepEqual(callsOf(answer), [])
  assert.match(textOf(answer), /practice model goes on/)
})

test('words an agent says in a system message between the turns are heard too', async () => {
  const prompt = user('#practice: tool Bash {"command":"x"}; say "heard: $context"')
  const first = await post(server.url, [prompt])
  const system: Message = { role: 'system', content: [{ type: 'text', text: 'PreToolUse:Bash hook additional context: turn right' }] }
  assert.equal(textOf(await post(server.url, [prompt, assistant(first), results(first, 'no'), system])), 'heard: turn right')
})

test('a prompt behind a rejected call is a new prompt', async () => {
  const prompt = user('#practice: tool Bash {"command":"x"}; say "never"')
  const first = await post(server.url, [prompt])
  const rejected = results(first, 'The user does not want to proceed')
  const merged: Message = {
    role: 'user',
    content: [
      ...(typeof rejected.content === 'string' ? [] : rejected.content),
      { type: 'text', text: '[Request interrupted by user for tool use]' },
      { type: 'text', text: '<system-reminder>\n#practice: say "not me"\n</system-reminder>' },
      { type: 'text', text: '#practice: say "new"' },
    ],
  }
  assert.equal(textOf(await post(server.url, [prompt, assistant(first), merged])), 'new')
})

test('a fault happens as often as it says in one conversation, then the answer comes', async () => {
  const text = '#practice: fault overloaded times=2 retryAfter=3; say "at last"'
  const first = await ask(text)
  assert.equal(first.status, 529)
  assert.equal(first.headers.get('retry-after'), '3')
  assert.deepEqual(first.body.error, { type: 'overloaded_error', message: 'Overloaded' })
  assert.equal((await ask(text)).status, 529)
  assert.equal(textOf(await ask(text)), 'at last')
  assert.equal((await ask(text, 'another conversation')).status, 529)
})

test('a fault with scope=all is counted over all conversations', async () => {
  const text = '#practice: fault duplicateToolUse scope=all; say "fresh"'
  const first = await ask(text, 'old')
  assert.match(first.body.error?.message ?? '', /`tool_use` ids must be unique/)
  assert.equal(textOf(await ask(text, 'new')), 'fresh')
})

test('a fault with when=history spares a conversation that only begins', async () => {
  const prompt = user('#practice: fault duplicateToolUse times=always when=history; say "nothing old"')
  assert.equal(textOf(await post(server.url, [prompt])), 'nothing old')
  const old: Message[] = [user('Hello'), { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }]
  assert.equal((await post(server.url, [...old, prompt])).status, 400)
})

test('a fault may name its own status, type and words', async () => {
  const answer = await ask('#practice: fault status=422 type=odd_error message="so it is" times=always')
  assert.equal(answer.status, 422)
  assert.deepEqual(answer.body.error, { type: 'odd_error', message: 'so it is' })
})

test('a stream is cut once, and whole when it is asked for again', async () => {
  const text = '#practice: say "before the cut"; cut; say " after"'
  const cut = await ask(text)
  assert.equal(cut.broken, true)
  assert.equal(textOf(cut), 'before the cut')
  assert.equal(textOf(await ask(text)), 'before the cut after')
})

test('an error in the middle of a stream is an error event, and the answer goes on when the agent asks so', async () => {
  const prompt = user('#practice: say "part one "; midError type=overloaded_error message="hold on"; say "part two"')
  const broken = await post(server.url, [prompt])
  assert.deepEqual(broken.events.at(-1), { type: 'error', error: { type: 'overloaded_error', message: 'hold on' } })
  for (const words of [
    'Your response above was cut off mid-stream.',
    '<system-reminder>\nYour response above was cut off mid-stream.\n</system-reminder>',
  ])
    assert.equal(textOf(await post(server.url, [prompt, assistant(broken), user(words)])), 'part two')
})

test('a hanging answer stays open until the client leaves, and is recorded so', async () => {
  const leave = new AbortController()
  const hanging = post(server.url, [user('#practice: say "words"; hang')], {
    signal: leave.signal,
    onEvent: (event) => {
      if (event.type === 'content_block_stop') leave.abort()
    },
  })
  assert.equal((await hanging).broken, true)
  assert.equal(server.requests.at(-1)?.outcome, 'hung')
})

test('a client that leaves a dripping answer ends it', async () => {
  const leave = new AbortController()
  const answer = await post(server.url, [user('#practice: drip 600000; say "slow words"')], {
    signal: leave.signal,
    onEvent: (event) => {
      if (event.type === 'content_block_delta') leave.abort()
    },
  })
  assert.equal(answer.broken, true)
  const gone = (): boolean => server.requests.at(-1)?.outcome === 'gone'
  for (const deadline = Date.now() + 5_000; !gone() && Date.now() < deadline;) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.ok(gone())
})

test('an answer holds until its name is released, by a call or over HTTP', async () => {
  const ways: [string, () => void][] = [
    ['one', () => server.release('one')],
    ['two', () => void fetch(`${server.url}/practice/release`, { method: 'POST', body: 'two' })],
  ]
  for (const [name, letGo] of ways) {
    const parts: string[] = []
    const answer = await post(server.url, [user(`#practice: say "before"; hold ${name}; say "after"`)], {
      onEvent: (event) => {
        if (event.type === 'content_block_stop') parts.push(event.type)
        if (event.type === 'content_block_stop' && parts.length === 1) letGo()
      },
    })
    assert.equal(textOf(answer), 'beforeafter')
  }
})

test('without stream the same answer comes as one message', async () => {
  const answer = await post(server.url, [user('#practice: think "t"; say "text"; tool Bash {"command":"x"}; usage in=7 out=9')], {
    body: { stream: false },
  })
  assert.deepEqual(
    answer.body.content?.map(({ type, text, thinking, input }) => ({ type, text, thinking, input })),
    [
      { type: 'thinking', text: undefined, thinking: 't', input: undefined },
      { type: 'text', text: 'text', thinking: undefined, input: undefined },
      { type: 'tool_use', text: undefined, thinking: undefined, input: { command: 'x' } },
    ],
  )
  assert.equal(answer.body.stop_reason, 'tool_use')
  assert.equal(answer.body.usage?.input_tokens, 7)
  assert.equal(answer.body.usage?.output_tokens, 9)
})

test('usage stands in message_start and message_delta, and what was served stands in the record', async () => {
  const answer = await ask('#practice: say "one two three"')
  const start = answer.events[0]?.message?.usage
  const end = answer.events.at(-2)?.usage
  assert.ok(start !== undefined && end !== undefined)
  assert.ok(start.input_tokens > 0 && start.cache_creation_input_tokens > 0)
  assert.ok(end.output_tokens > 1)
  assert.deepEqual(server.requests.at(-1)?.usage, {
    inputTokens: end.input_tokens,
    outputTokens: end.output_tokens,
    cacheReadTokens: end.cache_read_input_tokens,
    cacheWriteTokens: end.cache_creation_input_tokens,
  })
})

test('a request for a summary, a title or a schema gets one', async () => {
  const history: Message[] = [user('Hello'), { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }]
  const summary = await post(server.url, [
    ...history,
    user(`Your task is to create a detailed summary of the conversation so far. ${'Be careful and complete. '.repeat(20)}`),
  ])
  assert.match(textOf(summary), /<summary>[\s\S]*<\/summary>/)
  const title = await post(server.url, [user('Hello')], { body: { tools: [], system: 'Write a short title for this session.' } })
  assert.equal(textOf(title), 'Practice session')
  const schema = { type: 'object', properties: { title: { type: 'string' }, done: { type: 'boolean' } } }
  const fitted = await post(server.url, [user('Hello')], { body: { output_config: { format: { type: 'json_schema', schema } } } })
  assert.deepEqual(JSON.parse(textOf(fitted)), { title: 'Practice session', done: false })
})

const call = (id: string): Message => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'Bash', input: {} }] })
const result = (id: string): Message => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }] })

test('a history the provider would refuse is refused in its words', async () => {
  const cases: [RegExp, Message[]][] = [
    [/ids must be unique/, [user('a'), call('t1'), result('t1'), call('t1'), result('t1')]],
    [/without `tool_result` blocks/, [user('a'), call('t1'), user('b')]],
    [/unexpected `tool_use_id`/, [user('a'), result('t9')]],
    [/must be non-empty/, [user('')]],
    [/non-empty content/, [user('a'), { role: 'assistant', content: [] }, user('b')]],
    [
      /Invalid `signature`/,
      [user('a'), { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 'foreign' }] }, user('b')],
    ],
    [/first message/, [{ role: 'assistant', content: 'a' }]],
  ]
  for (const [words, messages] of cases) {
    const answer = await post(server.url, messages)
    assert.equal(answer.status, 400)
    assert.match(answer.body.error?.message ?? '', words)
  }
})

test('a body with half a character is refused, a whole one passes', async () => {
  const half = await postRaw(server.url, '{"model":"practice","messages":[{"role":"user","content":"\\ud83d"}]}')
  assert.equal(half.status, 400)
  assert.match(half.body.error?.message ?? '', /no low surrogate/)
  const whole = await postRaw(server.url, '{"model":"practice","messages":[{"role":"user","content":"\\ud83d\\ude00 and \\\\ud83d"}]}')
  assert.equal(whole.status, 200)
})

test('bad bodies, unknown routes and a missing key get errors in the provider’s form', async () => {
  assert.equal((await postRaw(server.url, 'not json')).status, 400)
  assert.equal((await postRaw(server.url, '{}')).status, 400)
  const noKey = await fetch(`${server.url}/v1/messages`, { method: 'POST', body: '{}' })
  assert.equal(noKey.status, 401)
  assert.equal((await fetch(`${server.url}/v2`)).status, 404)
  assert.match((await ask('#practice: jump "x"')).body.error?.message ?? '', /practice script: unknown step "jump"/)
})

test('the models are listed, tokens counted, and the root answers', async () => {
  const models = await (await fetch(`${server.url}/v1/models`)).text()
  assert.match(models, /"id":"practice"/)
  assert.equal((await fetch(server.url, { method: 'HEAD' })).status, 200)
  const counted = await fetch(`${server.url}/v1/messages/count_tokens`, {
    method: 'POST',
    body: JSON.stringify({ model: 'practice', messages: [{ role: 'user', content: 'hello' }] }),
  })
  const body: { input_tokens: number } = JSON.parse(await counted.text())
  assert.ok(body.input_tokens > 0)
})

test('BUG-56 the key stands in no record and no log line, also when it is quoted in the prompt', async () => {
  await ask(`#practice: say "my key is ${KEY}"`)
  assert.match(server.requests.at(-1)?.prompt ?? '', /my key is \[redacted\]/)
  assert.equal(JSON.stringify(server.requests).includes(KEY), false)
  const log = readFileSync(logFile, 'utf8')
  assert.equal(log.includes(KEY), false)
  assert.match(log, /"event":"asked"[\s\S]*"event":"ended"/)
})

test('closing the server ends open answers', async () => {
  const own = await startPracticeServer()
  let closed: Promise<void> = Promise.resolve()
  const answer = await post(own.url, [user('#practice: say "words"; hang')], {
    onEvent: (event) => {
      if (event.type === 'content_block_stop') closed = own.close()
    },
  })
  await closed
  assert.equal(answer.broken, true)
})
