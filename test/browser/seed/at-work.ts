/** Sessions that are done, at work, or wait for an answer. */
import type { Approval, UIMessageChunk } from '../../../packages/client/src/index.ts'
import { ago, approval, message, newId, reasoning, session, text, tool } from './make.ts'
import { FOLDER, seeded, type Seeded } from './seeded.ts'

const ANSWER = `The race is real. Two requests that arrive in the same tick both read \`lastSeq\` before either has written it:

1. request A reads \`lastSeq = 41\` and waits for the disk
2. request B reads \`lastSeq = 41\` too
3. both write row 42, and the second one **silently replaces** the first

I moved the read into the transaction and gave the table a unique index, so a second writer is refused instead of winning:

\`\`\`typescript
export function nextSeq(db: Database, sessionId: string): number {
  const row = db.prepare('SELECT max(seq) AS seq FROM messages WHERE session_id = ?').get(sessionId)
  // Inside BEGIN IMMEDIATE nobody else can read the same value.
  return (row?.seq ?? 0) + 1
}
\`\`\`

| case | before | after |
|---|---|---|
| 2 writers, same tick | 1 row lost | both kept |
| 100 writers | 37 rows lost | all kept, 4 ms slower |

The test that shows it is \`test/store/seq.test.ts\`; it fails on the old code every time. See [SQLite on isolation](https://sqlite.org/isolation.html) for why \`BEGIN\` alone is not enough.`

const BEFORE = `import { open } from './open.ts'

export function nextSeq(db, sessionId) {
  const row = db.prepare('SELECT max(seq) AS seq FROM messages WHERE session_id = ?').get(sessionId)
  return row.seq + 1
}

export function insert(db, message) {
  db.prepare('INSERT INTO messages VALUES (?, ?)').run(message.id, nextSeq(db, message.sessionId))
}
`
const AFTER = `import { open } from './open.ts'

export function nextSeq(db: Database, sessionId: string): number {
  const row = db.prepare('SELECT max(seq) AS seq FROM messages WHERE session_id = ?').get(sessionId)
  // Inside BEGIN IMMEDIATE nobody else can read the same value.
  return (row?.seq ?? 0) + 1
}

export function insert(db: Database, message: Message): void {
  transaction(db, () => {
    db.prepare('INSERT INTO messages VALUES (?, ?)').run(message.id, nextSeq(db, message.sessionId))
  })
}
`

const TEST_OUTPUT = `\u001b[32m✔\u001b[39m two writers in one tick both keep their row (12.4ms)
\u001b[32m✔\u001b[39m a hundred writers keep a hundred rows (88.1ms)
\u001b[32m✔\u001b[39m a reader never sees a hole (3.2ms)
ℹ tests 3
ℹ pass 3
ℹ fail 0
ℹ duration_ms 141.3`

export function finished(agentId: string): Seeded {
  const one = session({
    name: 'Rows lost under load',
    agentId,
    lastText: 'The race is real. Two requests that arrive in the same tick…',
    updatedAt: ago(26),
  })
  const ask = message(one.id, {
    role: 'user',
    parts: [text('Under load some messages disappear. Find out why, fix it, and show me a test that fails without the fix.')],
    createdAt: ago(1500),
  })
  const steer = message(one.id, { role: 'user', parts: [text('Keep it on node:sqlite, no new dependency.')], createdAt: ago(1494) })
  const first = message(one.id, {
    role: 'assistant',
    replyTo: ask.id,
    boundary: 'row-roll',
    createdAt: ago(1500),
    updatedAt: ago(1494),
    parts: [
      reasoning(
        'The symptom is rows that vanish, not rows that fail to be written. That points at an overwrite.\n\nCandidates: the primary key, an upsert, or a sequence number that is handed out twice. Let me look at how seq is assigned.',
        9_400,
      ),
      text('I will look at how rows get their number first.'),
      tool(
        'Grep',
        { pattern: 'nextSeq|lastSeq', path: `${FOLDER}/src`, glob: '*.ts' },
        'src/store/seq.ts:3:export function nextSeq(db, sessionId) {\nsrc/store/insert.ts:8:  nextSeq(db, message.sessionId)\n',
      ),
      tool('Read', { file_path: `${FOLDER}/src/store/seq.ts`, offset: 1, limit: 40 }, BEFORE),
      tool('Bash', { command: `cd ${FOLDER} && node --test test/store/`, description: 'Run the store tests' }, TEST_OUTPUT),
    ],
    metadata: {},
  })
  const second = message(one.id, {
    role: 'assistant',
    replyTo: steer.id,
    rollOf: first.id,
    createdAt: ago(1494),
    updatedAt: ago(1488),
    parts: [
      reasoning('No new dependency: BEGIN IMMEDIATE and a unique index do it.', 2_100),
      tool('Edit', { file_path: `${FOLDER}/src/store/seq.ts`, old_string: BEFORE, new_string: AFTER }, 'The file has been updated.'),
      tool(
        'Write',
        {
          file_path: `${FOLDER}/test/store/seq.test.ts`,
          content: "import { test } from 'node:test'\n\ntest('two writers in one tick both keep their row', () => {\n  // …\n})\n",
        },
        'File created.',
      ),
      tool('Bash', { command: 'node --test test/store/seq.test.ts' }, TEST_OUTPUT),
      tool('Bash', { command: 'git push --force origin main' }, null, { state: 'output-denied' }),
      tool('Bash', { command: 'npm run lint' }, null, {
        state: 'output-error',
        errorText: 'Exit code 2\nsrc/store/insert.ts:12:3 error  Promises must be awaited',
      }),
      tool('mcp__tracker__issue_comment', { id: 'HBR-214', text: 'Fixed on branch seq-in-transaction.' }, [
        { type: 'text', text: 'Comment added.' },
      ]),
      text(ANSWER),
    ],
  })
  for (const part of [...first.parts, ...second.parts]) {
    if (part.type !== 'dynamic-tool') continue
    const row = first.parts.includes(part) ? first : second
    row.metadata = {
      ...row.metadata,
      toolMs: { ...(row.metadata['toolMs'] as object), [part.toolCallId]: 180 + part.toolName.length * 431 },
    }
  }
  const thanks = message(one.id, { role: 'user', parts: [text('Good. Write the changelog entry.')], createdAt: ago(28) })
  const last = message(one.id, {
    role: 'assistant',
    replyTo: thanks.id,
    createdAt: ago(28),
    updatedAt: ago(26),
    parts: [
      tool(
        'Edit',
        {
          file_path: `${FOLDER}/CHANGELOG.md`,
          old_string: '## Unreleased\n',
          new_string: '## Unreleased\n- No message is lost when two arrive in the same tick.\n',
        },
        'Updated.',
      ),
      text('Done: one line under *Unreleased*.'),
    ],
  })
  return seeded(one, [ask, first, steer, second, thanks, last], { contextUsage: { usedTokens: 68_400, maxTokens: 200_000 } })
}

const STREAM: UIMessageChunk[] = [
  { type: 'start' },
  { type: 'start-step' },
  { type: 'reasoning-start', id: 'r1' },
  { type: 'reasoning-delta', id: 'r1', delta: 'The build is slow because every package is compiled twice.\nCheck the cache key first.' },
  { type: 'reasoning-end', id: 'r1' },
  { type: 'text-start', id: 't1' },
  { type: 'text-delta', id: 't1', delta: 'The cache is never hit. Looking at how its key is made:' },
  { type: 'text-end', id: 't1' },
  { type: 'tool-input-start', toolCallId: 'c1', toolName: 'Read', dynamic: true },
  { type: 'tool-input-available', toolCallId: 'c1', toolName: 'Read', input: { file_path: `${FOLDER}/scripts/cache.ts` }, dynamic: true },
  { type: 'tool-output-available', toolCallId: 'c1', output: 'export const key = () => Date.now()', dynamic: true },
  { type: 'tool-input-start', toolCallId: 'c2', toolName: 'Bash', dynamic: true },
  {
    type: 'tool-input-available',
    toolCallId: 'c2',
    toolName: 'Bash',
    input: { command: 'node scripts/build.ts --verbose', description: 'Build once with timings' },
    dynamic: true,
  },
]

export function running(agentId: string): Seeded {
  const one = session({
    name: 'Why is the build slow',
    agentId,
    status: 'working',
    queued: 2,
    lastText: 'The cache is never hit. Looking at how its key is made:',
    updatedAt: ago(0.2),
  })
  const ask = message(one.id, {
    role: 'user',
    parts: [text('The build takes four minutes. Find the slowest step and make it faster; do not change what it builds.')],
    createdAt: ago(2.2),
  })
  const turnId = newId()
  const row = message(one.id, {
    role: 'assistant',
    status: 'pending',
    boundary: null,
    replyTo: ask.id,
    turnId,
    parts: [],
    createdAt: ago(2.2),
  })
  const steer = message(one.id, {
    role: 'user',
    seq: null,
    queuePos: 1,
    inputState: 'steering',
    parts: [text('Also measure it with a cold cache.')],
    createdAt: ago(0.5),
  })
  const queued = message(one.id, {
    role: 'user',
    seq: null,
    queuePos: 2,
    inputState: 'queued',
    parts: [text('Then write down in docs/build.md how the cache works and when it is thrown away, in ten lines at most.')],
    createdAt: ago(0.3),
  })
  return seeded(
    one,
    [ask, row],
    {
      turn: { turnId, messageId: row.id, phase: 'open', kind: 'user', headless: false, stalled: false, startedAt: ago(2.2) },
      queue: [steer, queued],
      background: [{ id: 'b1', kind: 'shell', title: 'node scripts/watch.ts', status: 'running' }],
      contextUsage: { usedTokens: 171_000, maxTokens: 200_000 },
    },
    { [row.id]: STREAM },
  )
}

export function waiting(agentId: string): { seeded: Seeded; approvals: Approval[] } {
  const one = session({
    name: 'Publish 2.4.0',
    agentId,
    status: 'waiting',
    needsYou: 2,
    lastText: 'Tests pass. Publishing needs your yes.',
    updatedAt: ago(2),
    workspace: { kind: 'user', path: '/home/me/code/site' },
  })
  const ask = message(one.id, { role: 'user', parts: [text('Release 2.4.0.')], createdAt: ago(6) })
  const row = message(one.id, { role: 'assistant', status: 'pending', boundary: null, replyTo: ask.id, parts: [], createdAt: ago(6) })
  const publish = approval(one.id, row.id, {
    toolName: 'Bash',
    toolCallId: 'p1',
    input: { command: 'npm publish --access public && git push origin v2.4.0', description: 'Publish the package and push its tag' },
    requestedAt: ago(2),
  })
  const write = approval(one.id, row.id, {
    toolName: 'Write',
    toolCallId: 'p2',
    input: { file_path: '/etc/hosts', content: '127.0.0.1 localhost\n' },
    requestedAt: ago(1),
  })
  const chunks: UIMessageChunk[] = [
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Tests pass. Publishing needs your yes.' },
    { type: 'text-end', id: 't' },
    { type: 'tool-input-available', toolCallId: 'p1', toolName: 'Bash', input: publish.input, dynamic: true },
    { type: 'tool-approval-request', toolCallId: 'p1', approvalId: publish.id },
  ]
  return {
    seeded: seeded(
      one,
      [ask, row],
      {
        turn: { turnId: newId(), messageId: row.id, phase: 'open', kind: 'user', headless: false, stalled: false, startedAt: ago(6) },
        approvals: [publish, write],
      },
      { [row.id]: chunks },
    ),
    approvals: [publish, write],
  }
}

export function asking(agentId: string): { seeded: Seeded; approvals: Approval[] } {
  const one = session({
    name: 'Move the docs',
    agentId,
    status: 'waiting',
    needsYou: 1,
    lastText: 'Two questions before I begin.',
    updatedAt: ago(11),
  })
  const ask = message(one.id, { role: 'user', parts: [text('Move the documentation to its own site.')], createdAt: ago(14) })
  const row = message(one.id, { role: 'assistant', status: 'pending', boundary: null, replyTo: ask.id, parts: [], createdAt: ago(14) })
  const card = approval(one.id, row.id, {
    kind: 'question',
    toolName: 'AskUserQuestion',
    toolCallId: 'q1',
    requestedAt: ago(11),
    input: {
      questions: [
        {
          question: 'Where should the pages live?',
          header: 'Place',
          multiSelect: false,
          options: [
            { label: 'In this repository', description: 'One folder, built together with the code.' },
            { label: 'In a repository of their own', description: 'Own releases; links need care.' },
          ],
        },
        {
          question: 'Which languages?',
          header: 'Languages',
          multiSelect: true,
          options: [
            { label: 'English', description: '' },
            { label: '中文', description: '' },
          ],
        },
      ],
    },
  })
  const chunks: UIMessageChunk[] = [
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Two questions before I begin.' },
    { type: 'text-end', id: 't' },
    { type: 'tool-input-available', toolCallId: 'q1', toolName: 'AskUserQuestion', input: card.input, dynamic: true },
  ]
  return {
    seeded: seeded(
      one,
      [ask, row],
      {
        turn: { turnId: newId(), messageId: row.id, phase: 'open', kind: 'user', headless: false, stalled: false, startedAt: ago(14) },
        approvals: [card],
      },
      { [row.id]: chunks },
    ),
    approvals: [card],
  }
}

export function planned(agentId: string): { seeded: Seeded; approvals: Approval[] } {
  const one = session({
    name: 'Split the settings page',
    agentId,
    status: 'waiting',
    needsYou: 1,
    lastText: 'Here is how I would do it.',
    updatedAt: ago(21),
  })
  const ask = message(one.id, {
    role: 'user',
    parts: [text('The settings page is one file of 2,000 lines. Plan how to split it.')],
    createdAt: ago(24),
  })
  const row = message(one.id, { role: 'assistant', status: 'pending', boundary: null, replyTo: ask.id, parts: [], createdAt: ago(24) })
  const plan =
    '## Plan\n\n1. **Move** each section into a file of its own\n2. Keep `Settings` as the list of them\n3. Run the tests after every move\n\nNothing a person sees changes.'
  const card = approval(one.id, row.id, {
    kind: 'plan',
    toolName: 'ExitPlanMode',
    toolCallId: 'plan1',
    input: { plan },
    requestedAt: ago(21),
  })
  const chunks: UIMessageChunk[] = [
    { type: 'tool-input-available', toolCallId: 'plan1', toolName: 'ExitPlanMode', input: card.input, dynamic: true },
  ]
  return {
    seeded: seeded(
      one,
      [ask, row],
      {
        turn: { turnId: newId(), messageId: row.id, phase: 'open', kind: 'user', headless: false, stalled: false, startedAt: ago(24) },
        approvals: [card],
      },
      { [row.id]: chunks },
    ),
    approvals: [card],
  }
}
