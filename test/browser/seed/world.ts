/** A house full of sessions in every state there is a picture for. */
import type { Agent, Approval, Provider } from '../../../packages/client/src/index.ts'
import { asking, finished, planned, running, waiting } from './at-work.ts'
import { interrupted, long, putAside, stalled, troubles } from './in-trouble.ts'
import { agent, ago, provider, session } from './make.ts'
import { seeded, type Seeded } from './seeded.ts'

export type World = { providers: Provider[]; agents: Agent[]; sessions: Seeded[]; approvals: Approval[] }

/** Everything at once. */
export function fullWorld(): World {
  const real = provider({
    name: 'Anthropic',
    models: [
      { id: 'claude-opus-5', name: 'Opus 5', contextWindow: 200_000, pricing: null },
      { id: 'claude-sonnet-5', name: 'Sonnet 5', contextWindow: 200_000, pricing: null },
    ],
  })
  const practice = provider({
    name: 'Practice',
    baseUrl: 'http://127.0.0.1:4781',
    hasApiKey: false,
    models: [{ id: 'practice-1', name: 'practice-1', contextWindow: 200_000, pricing: null }],
  })
  const builder = agent({ name: 'Builder', providerId: real.id, modelId: 'claude-opus-5' })
  const reviewer = agent({ name: 'Reviewer', providerId: real.id, modelId: 'claude-sonnet-5', permissionMode: 'plan' })
  const trainee = agent({ name: 'Practice agent', providerId: practice.id, modelId: 'practice-1', permissionMode: 'bypassPermissions' })
  const publish = waiting(builder.id)
  const question = asking(reviewer.id)
  const plan = planned(reviewer.id)
  const idle = ['Review the pull request about caching', 'Explain the scheduler', 'Rename Job to Task everywhere'].map((name, index) =>
    seeded(
      session({
        name,
        agentId: reviewer.id,
        lastText:
          ['Three remarks, one of them serious.', 'It has one queue for each worker.', '142 files changed; the tests pass.'][index] ?? '',
        updatedAt: ago(300 + index * 1500),
      }),
      [],
    ),
  )
  const empty = seeded(
    session({
      name: '',
      agentId: trainee.id,
      updatedAt: ago(12_000),
      workspace: { kind: 'system', path: '/home/me/.local/share/wheelhouse/workspaces/0198' },
    }),
    [],
  )
  return {
    providers: [real, practice],
    agents: [builder, reviewer, trainee],
    sessions: [
      finished(builder.id),
      running(builder.id),
      publish.seeded,
      question.seeded,
      interrupted(builder.id),
      troubles(trainee.id),
      plan.seeded,
      stalled(builder.id),
      putAside(trainee.id),
      long(builder.id, 120),
      ...idle,
      empty,
    ],
    approvals: [...publish.approvals, ...question.approvals, ...plan.approvals],
  }
}

/** Five hundred sessions, one of them with twenty thousand rows. */
export function hugeWorld(): World {
  const world = fullWorld()
  const [builder] = world.agents
  const many = Array.from({ length: 490 }, (_, index) =>
    seeded(
      session({ name: `Session ${String(index + 1)}`, agentId: builder?.id ?? null, lastText: 'Done.', updatedAt: ago(3000 + index) }),
      [],
    ),
  )
  return { ...world, sessions: [long(builder?.id ?? '', 10_000), ...world.sessions, ...many] }
}

/** A host nobody has used yet. */
export const emptyWorld = (): World => ({ providers: [], agents: [], sessions: [], approvals: [] })
