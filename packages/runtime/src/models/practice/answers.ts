/**
 * What the practice model says when no script tells it: enough for a person to see a real agent
 * think, use a tool in its workspace and answer. Pure: a request's meaning in, steps out.
 */
import type { Json, JsonObject } from '@wheelhouse/client/protocol'
import type { Around, Ask, Call } from './ask.ts'
import { firstCharacters, isObject, unreachable } from './json.ts'
import type { Step } from './script.ts'

/** Milliseconds between words: a pace that can be read along. */
export const PLEASANT_DRIP_MS = 25
/** Characters of a tool's result or of the prompt that are quoted back. */
const QUOTE_CHARS = 600
const PROMPT_CHARS = 120

const NOTE_FILE = 'practice-note.md'
const NOTE_TEXT =
  '# A note from the practice model\n\nThe agent that wrote this file is real; the model behind it only practises.\nConnect a provider with a key to work with a real model.\n'

/** The key in the ids of calls no script made. */
export const FREE_KEY = '00000000'

/** The steps of the answer to anything but a script. `tools`: what the agent offers; `workspace`: its folder, when it told. */
export function freeAnswer(
  ask: Exclude<Ask, { kind: 'script' } | { kind: 'bad-script' }>,
  offered: { tools: readonly string[]; thinking: boolean; system: string },
  dripMs: number,
): Step[] {
  const steps = stepsFor(ask, offered.tools, workspaceOf(offered.system))
  const paced = steps.map((step) => ('dripMs' in step && step.dripMs > 0 ? { ...step, dripMs } : step))
  return offered.thinking ? paced : paced.filter((step) => step.do !== 'think')
}

function stepsFor(
  ask: Exclude<Ask, { kind: 'script' } | { kind: 'bad-script' }>,
  tools: readonly string[],
  workspace: string | null,
): Step[] {
  switch (ask.kind) {
    case 'summary':
      return [
        say(
          '<analysis>\nThe practice model looked back over the conversation.\n</analysis>\n\n<summary>\n1. Primary request: the person tried Wheelhouse with the practice model.\n2. Work done: the agent answered and used tools in its workspace.\n3. Pending: nothing is known to be open.\n</summary>',
          0,
        ),
      ]
    case 'title':
      return [say('Practice session', 0)]
    case 'schema':
      return [say(JSON.stringify(fitting(ask.schema)), 0)]
    case 'continued':
      return [say('The practice model goes on from the summary, and has nothing more to do.')]
    case 'notice':
      return [say(`The practice model heard: ${cut(ask.text, QUOTE_CHARS)}.`)]
    case 'prompt':
      return toPrompt(ask.text, ask.first, ask.around, tools, workspace)
    case 'results':
      return toResults(ask.calls, ask.prompt, ask.around, tools)
    default:
      return unreachable(ask)
  }
}

const say = (text: string, dripMs = PLEASANT_DRIP_MS): Step => ({ do: 'say', text, dripMs })
const think = (text: string): Step => ({ do: 'think', text, dripMs: PLEASANT_DRIP_MS })
const tool = (name: string, input: JsonObject): Step => ({ do: 'tool', name, input, id: null, dripMs: PLEASANT_DRIP_MS })

function toPrompt(text: string, first: boolean, around: Around, tools: readonly string[], workspace: string | null): Step[] {
  const call = chooseCall(text, first, tools, workspace)
  const heard = text.trim() === '' ? 'Something arrived without words.' : `The person wrote: “${cut(text, PROMPT_CHARS)}”.`
  const opening = first
    ? 'Hello! I am the practice model: a stand-in without a mind of its own, so that you can try everything without a key. The agent around me is real.'
    : 'The practice model again.'
  const after = around.failed ? ' The last tool call did not go through; I leave it at that.' : ''
  if (call === null) return [think(`${heard} No tool is needed for that.`), say(`${opening}${after} ${closing()}`)]
  return [think(`${heard} I only practise, but I can use a tool: ${call.why}.`), say(`${opening}${after} Let me ${call.why}.`), call.step]
}

function chooseCall(text: string, first: boolean, tools: readonly string[], workspace: string | null): { why: string; step: Step } | null {
  const has = (name: string): boolean => tools.includes(name)
  if (has('Write') && /\b(?:write|create|note|make)\b/i.test(text))
    return { why: `write ${NOTE_FILE} in the workspace`, step: tool('Write', { file_path: inWorkspace(workspace), content: NOTE_TEXT }) }
  if (has('Read') && /\bread\b/i.test(text)) return { why: `read ${NOTE_FILE}`, step: tool('Read', { file_path: inWorkspace(workspace) }) }
  if (has('Bash') && (first || /\b(?:list|files?|folder|look|ls)\b/i.test(text)))
    return {
      why: 'look around in the workspace',
      step: tool('Bash', { command: 'ls -la', description: 'List the files of the workspace' }),
    }
  return null
}

function toResults(calls: readonly Call[], prompt: string, around: Around, tools: readonly string[]): Step[] {
  const wrote = calls.find((call) => call.name === 'Write')
  const path = wrote?.input['file_path']
  if (wrote !== undefined && !around.failed && typeof path === 'string' && tools.includes('Read') && around.context === '')
    return [say('Written. I read it back to be sure.'), tool('Read', { file_path: path })]
  const names = calls.map((call) => call.name).join(', ') || 'the tool'
  const outcome = around.failed ? 'did not go through. It said:' : 'returned:'
  const steered = around.context === '' ? '' : `\n\nWhile I worked you added: “${cut(around.context, PROMPT_CHARS)}”. I have seen it.`
  const about = prompt === '' ? '' : ` on “${cut(prompt, PROMPT_CHARS)}”`
  return [
    think('The tool has answered. I say what it said and stop here.'),
    say(
      `This was practice${about}. **${names}** ${outcome}\n\n\`\`\`\n${cut(around.result.replaceAll('```', "'''"), QUOTE_CHARS) || '(nothing)'}\n\`\`\`${steered}\n\n${closing()}`,
    ),
  ]
}

const closing = (): string =>
  'Ask me to *list the files*, *write a note* or *read it*, or script me with a line that begins with `#practice:`. For real work, connect a provider with a key.'

const inWorkspace = (workspace: string | null): string => (workspace === null ? NOTE_FILE : `${workspace}/${NOTE_FILE}`)

/** Agents tell the model where they work. */
function workspaceOf(system: string): string | null {
  const found = /working directory:\s*(\/[^\n]*?)\s*(?:\n|$)/i.exec(system)
  return found?.[1] === undefined ? null : found[1].replace(/\/$/, '')
}

/** Shortens without splitting a character. */
function cut(text: string, most: number): string {
  const line = text.trim()
  const short = firstCharacters(line, most)
  return short === line ? line : `${short}…`
}

/** The smallest value that fits a JSON schema, with the word practice where text is wanted. */
function fitting(schema: JsonObject): Json {
  const choices = schema['enum']
  if (Array.isArray(choices) && choices[0] !== undefined) return choices[0]
  switch (schema['type']) {
    case 'boolean':
      return false
    case 'number':
    case 'integer':
      return 0
    case 'array':
      return []
    case 'object':
      return Object.fromEntries(Object.entries(properties(schema)).map(([name, inner]) => [name, fitting(inner)]))
    default:
      return 'Practice session'
  }
}

function properties(schema: JsonObject): { [name: string]: JsonObject } {
  const found = schema['properties']
  if (!isObject(found)) return {}
  return Object.fromEntries(Object.entries(found).flatMap(([name, inner]) => (isObject(inner) ? [[name, inner] as const] : [])))
}
