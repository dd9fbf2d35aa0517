/** From what was asked to the plan of an answer: its steps, its usage, the words it quotes. */
import { randomBytes } from 'node:crypto'
import { freeAnswer, FREE_KEY } from './answers.ts'
import { promptOf, type Ask } from './ask.ts'
import type { DisturbanceCounter } from './faults.ts'
import { tokensOf, type Answer, type Usage } from './frames.ts'
import { ProviderRefusal, type ModelRequest } from './request.ts'
import type { Step } from './script.ts'

export type PlanSurroundings = {
  counter: DisturbanceCounter
  /** Pace of answers no script made. */
  dripMs: number
  /** The agent's own name for its conversation. */
  session: string | null
}

/** Makes the answer's plan. Throws `ProviderRefusal` for a script that cannot be read. */
export function prepare(request: ModelRequest, ask: Ask, raw: string, around: PlanSurroundings): Answer {
  if (ask.kind === 'bad-script') throw new ProviderRefusal(400, 'invalid_request_error', `practice script: ${ask.message}`)
  const said = ask.kind === 'script' || ask.kind === 'prompt' || ask.kind === 'results' ? ask.around : { result: '', context: '' }
  const first = request.turns.find((turn) => turn.role === 'user' && promptOf(turn) !== null)
  const base = {
    modelId: request.modelId,
    unique: randomBytes(6).toString('hex'),
    usage: inputUsage(raw, request),
    words: { result: said.result, context: said.context, first: first === undefined ? '' : (promptOf(first) ?? '') },
  }
  if (ask.kind !== 'script')
    return { ...base, steps: freeAnswer(ask, request, around.dripMs), key: FREE_KEY, round: 0, happens: () => false }
  const all = roundOf(ask) ?? scriptIsOver(ask.round, ask.around.result)
  const steps = ask.resumed === 0 ? all : behindDisturbance(all, ask.resumed)
  const place = { conversation: around.session ?? '', promptTurn: ask.promptTurn }
  return {
    ...base,
    steps,
    key: ask.script.key,
    round: ask.round,
    happens: (step) => around.counter.happens(steps[step], `${ask.script.key}:${ask.round}:${step}`, place),
  }
}

/** The steps of a round; what stands behind `notice` is no part of the answer to the prompt. */
function roundOf({ script, round, notice }: Extract<Ask, { kind: 'script' }>): Step[] | undefined {
  return script.noticeAt === round && !notice ? undefined : script.rounds[round]
}

/** A script that ends with a tool call still owes an answer to its result. */
function scriptIsOver(round: number, result: string): Step[] {
  const words =
    round === 0
      ? 'The practice script is empty.'
      : result === ''
        ? 'The practice script is over.'
        : 'The practice script is over. The tool returned: $result'
  return [{ do: 'say', text: words, dripMs: 0 }]
}

function behindDisturbance(steps: Step[], passed: number): Step[] {
  let at = -1
  for (let count = 0; count < passed; count++)
    at = steps.findIndex((step, index) => index > at && (step.do === 'midError' || step.do === 'fault'))
  const rest = steps.slice(at + 1)
  return rest.length > 0 ? rest : [{ do: 'say', text: 'The practice answer goes on and ends.', dripMs: 0 }]
}

/** Everything before the newest message counts as read from the cache, as it does with an agent that caches. */
function inputUsage(raw: string, request: ModelRequest): Omit<Usage, 'outputTokens'> {
  const newest = tokensOf(JSON.stringify(request.turns.at(-1)?.blocks ?? []))
  const rest = Math.max(tokensOf(raw) - newest, 0)
  return request.turns.length === 1
    ? { inputTokens: newest, cacheReadTokens: 0, cacheWriteTokens: rest }
    : { inputTokens: newest, cacheReadTokens: rest, cacheWriteTokens: 0 }
}
