/** Sessions that did not end well, or are very long. */
import type { Message, UIMessageChunk } from '../../../packages/client/src/index.ts'
import { ago, message, newId, session, text, tool } from './make.ts'
import { seeded, type Seeded } from './seeded.ts'

export function interrupted(agentId: string): Seeded {
  const one = session({
    name: 'Translate the error texts',
    agentId,
    status: 'held',
    held: 2,
    lastText: 'I have done 14 of 41 texts.',
    updatedAt: ago(44),
  })
  const ask = message(one.id, { role: 'user', parts: [text('Translate all error texts to Chinese.')], createdAt: ago(60) })
  const row = message(one.id, {
    role: 'assistant',
    status: 'interrupted',
    errorCode: 'TURN_INTERRUPTED',
    replyTo: ask.id,
    parts: [
      text('I have done 14 of 41 texts. Going on with the provider errors.'),
      tool('Bash', { command: 'npm test' }, null, { state: 'output-error', errorText: 'The host restarted while this ran' }),
    ],
    createdAt: ago(60),
    updatedAt: ago(44),
  })
  const held = (pos: number, words: string): Message =>
    message(one.id, {
      role: 'user',
      seq: null,
      queuePos: pos,
      inputState: 'held',
      heldReason: 'interrupted',
      parts: [text(words)],
      createdAt: ago(50),
    })
  const lost = message(one.id, {
    role: 'user',
    seq: null,
    queuePos: 1,
    inputState: 'unknown',
    parts: [text('Use 智能体 for agent.')],
    createdAt: ago(51),
  })
  return seeded(one, [ask, row], { queue: [lost, held(2, 'Then check that no key is missing.'), held(3, 'And commit it.')] })
}

export function troubles(agentId: string): Seeded {
  const one = session({ name: 'Nightly dependency check', agentId, status: 'error', lastText: 'invalid x-api-key', updatedAt: ago(180) })
  const ask = (words: string, at: number, change: Partial<Message> = {}): Message =>
    message(one.id, { role: 'user', parts: [text(words)], createdAt: ago(at), ...change })
  const a = ask('Check for updates.', 400, { origin: 'scheduled' })
  const b = ask('Try once more.', 300)
  const c = ask('And now?', 185)
  return seeded(one, [
    a,
    message(one.id, {
      role: 'assistant',
      status: 'paused',
      replyTo: a.id,
      parts: [text('Looking at 214 packages; the first 20 are current.')],
      createdAt: ago(400),
      updatedAt: ago(398),
      stopRequestedAt: ago(398),
    }),
    b,
    message(one.id, {
      role: 'assistant',
      status: 'error',
      errorCode: 'PROVIDER_ERROR',
      errorText: '529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      replyTo: b.id,
      parts: [text('I will go on with the rest.')],
      createdAt: ago(300),
      updatedAt: ago(299),
    }),
    c,
    message(one.id, {
      role: 'assistant',
      status: 'error',
      errorCode: 'PROVIDER_AUTH_FAILED',
      errorText: '401 invalid x-api-key',
      replyTo: c.id,
      parts: [],
      createdAt: ago(185),
      updatedAt: ago(180),
    }),
  ])
}

export function long(agentId: string, turns: number): Seeded {
  const one = session({
    name: 'A very long session whose name does not fit into any line of the list on the left',
    agentId,
    lastText: `Answer ${String(turns)}`,
    updatedAt: ago(2000),
    workspace: { kind: 'user', path: '/home/me/code/a/very/deep/place/that/goes/on/and/on/until/it/does/not/fit' },
  })
  const rows: Message[] = []
  for (let turn = 1; turn <= turns; turn += 1) {
    const at = 2000 + (turns - turn) * 3
    const ask = message(one.id, { role: 'user', parts: [text(`Question ${String(turn)}`)], createdAt: ago(at) })
    rows.push(
      ask,
      message(one.id, {
        role: 'assistant',
        replyTo: ask.id,
        createdAt: ago(at),
        updatedAt: ago(at - 1),
        parts: [text(`Answer ${String(turn)}. ${'A sentence that makes it as long as answers are. '.repeat(1 + (turn % 5))}`)],
      }),
    )
  }
  return seeded(one, rows)
}

export function stalled(agentId: string): Seeded {
  const one = session({ name: 'Index the archive', agentId, status: 'stalled', lastText: 'Reading 40,000 files.', updatedAt: ago(9) })
  const ask = message(one.id, { role: 'user', parts: [text('Index the archive.')], createdAt: ago(15) })
  const row = message(one.id, { role: 'assistant', status: 'pending', boundary: null, replyTo: ask.id, parts: [], createdAt: ago(15) })
  const chunks: UIMessageChunk[] = [
    { type: 'data-notice', id: 'n', data: { code: 'CONTEXT_LOST', text: 'The agent answers without its earlier conversation.' } },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Reading 40,000 files.' },
    { type: 'text-end', id: 't' },
  ]
  return seeded(
    one,
    [ask, row],
    { turn: { turnId: newId(), messageId: row.id, phase: 'open', kind: 'user', headless: false, stalled: true, startedAt: ago(15) } },
    { [row.id]: chunks },
  )
}

export function putAside(agentId: string): Seeded {
  const one = session({ name: 'Old experiment', agentId, status: 'quarantined', lastText: 'Done.', updatedAt: ago(4000) })
  const ask = message(one.id, { role: 'user', parts: [text('Try it.')], createdAt: ago(4001), unanswered: true })
  return seeded(one, [
    ask,
    message(one.id, {
      role: 'assistant',
      replyTo: ask.id,
      status: 'error',
      errorCode: 'INTERNAL_QUARANTINE',
      parts: [text('Done.')],
      createdAt: ago(4001),
      updatedAt: ago(4000),
    }),
  ])
}
