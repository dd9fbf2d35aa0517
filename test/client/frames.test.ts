import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { compareCursors, createFrameParser, readVector, writeVector } from '../../packages/client/src/index.ts'

const word = fc.stringMatching(/^[a-z0-9 .:字]{1,12}$/)
const frame = fc.record({ id: fc.option(word), event: fc.stringMatching(/^[a-z-]{1,10}$/), data: word }, { noNullPrototype: true })

test('frames are read the same wherever the bytes are cut and whatever ends the lines', () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat(400), { maxLength: 12 }),
      (frames, end, cuts) => {
        const text = frames
          .map(({ id, event, data }) => `: note${end}${id === null ? '' : `id: ${id}${end}`}event: ${event}${end}data: ${data}${end}${end}`)
          .join('')
        const parse = createFrameParser()
        const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length].toSorted((a, b) => a - b)
        const read = places.slice(1).flatMap((place, index) => parse(text.slice(places[index], place)))
        // With lone CRs the last line end waits for a possible LF.
        if (end === '\r') read.push(...parse('\n'))
        assert.deepEqual(read, frames)
      },
    ),
  )
})

test('data of several lines is joined, and a frame without data is not dispatched', () => {
  const parse = createFrameParser()
  assert.deepEqual(parse('data: a\ndata\ndata:  b\n\nevent: x\n\n'), [{ id: null, event: 'message', data: 'a\n\n b' }])
})

test('cursors are ordered by epoch and rev alone', () => {
  assert.ok(compareCursors('1.9.0', '2.1.0') < 0)
  assert.ok(compareCursors('1.10.0', '1.9.500') > 0)
  assert.equal(compareCursors('1.9.5', '1.9.7-2'), 0)
  assert.equal(compareCursors('1.9.5', 'later'), 0)
})

test('a vector is read as it was written', () => {
  const cursors = new Map([
    ['a', '1.2.3'],
    ['b', '1.2.3-4'],
  ])
  assert.deepEqual(readVector(writeVector(cursors) ?? ''), cursors)
  assert.equal(writeVector(new Map([['a', null]])), null)
  assert.deepEqual(readVector('junk,a:,:1.2.3,b:1.2.3'), new Map([['b', '1.2.3']]))
})
