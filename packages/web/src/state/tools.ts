/**
 * What a tool call does, in parts a sentence can be made of. Pure. Names and inputs are those of the
 * agents' own tools; an unknown tool is shown by its name and first telling field.
 */
import type { Json, JsonObject } from '@wheelhouse/client'
import { questionsOf } from './questions.ts'

export type ToolKind =
  | 'shell'
  | 'edit'
  | 'write'
  | 'read'
  | 'search'
  | 'list'
  | 'fetch'
  | 'web-search'
  | 'agent'
  | 'todo'
  | 'question'
  | 'plan'
  | 'send'
  | 'mcp'
  | 'other'

/** Why a person should look twice before saying yes. */
export type Danger = 'deletes' | 'network' | 'outside' | 'force' | 'privileged'

export type ToolSummary = {
  kind: ToolKind
  /** The thing acted on: a command, a path, a pattern, a url; empty when the input does not say yet. */
  object: string
  /** A second fact: where a search looks, what a command is for. */
  detail: string
  /** Tool and server as an MCP server names them; otherwise the tool's name. */
  name: string
  server: string | null
  dangers: Danger[]
}

const KINDS: { readonly [name: string]: ToolKind } = {
  bash: 'shell',
  shell: 'shell',
  powershell: 'shell',
  bashoutput: 'shell',
  edit: 'edit',
  multiedit: 'edit',
  notebookedit: 'edit',
  str_replace: 'edit',
  write: 'write',
  create: 'write',
  read: 'read',
  notebookread: 'read',
  view: 'read',
  grep: 'search',
  glob: 'search',
  find: 'search',
  ls: 'list',
  webfetch: 'fetch',
  websearch: 'web-search',
  task: 'agent',
  agent: 'agent',
  todowrite: 'todo',
  taskcreate: 'todo',
  taskupdate: 'todo',
  askuserquestion: 'question',
  exitplanmode: 'plan',
  session_send: 'send',
}

const FIELDS: { readonly [kind in ToolKind]: readonly string[] } = {
  shell: ['command', 'cmd', 'script'],
  edit: ['file_path', 'path', 'notebook_path'],
  write: ['file_path', 'path'],
  read: ['file_path', 'path', 'notebook_path'],
  search: ['pattern', 'query', 'regex'],
  list: ['path', 'dir'],
  fetch: ['url'],
  'web-search': ['query'],
  agent: ['description', 'prompt'],
  todo: ['subject', 'title'],
  question: [],
  plan: [],
  send: ['to', 'session', 'session_id', 'target'],
  mcp: ['path', 'file_path', 'query', 'url', 'name', 'title', 'id', 'text', 'command'],
  other: ['path', 'file_path', 'command', 'query', 'pattern', 'url', 'name', 'title', 'description', 'id', 'text'],
}

/** `workspace` is the session's folder: paths inside are shown relative, paths outside are marked. */
export function summarizeTool(toolName: string, input: Json | undefined, workspace: string | null): ToolSummary {
  const mcp = /^mcp__(.+?)__(.+)$/.exec(toolName)
  const name = mcp?.[2] ?? toolName
  const known = KINDS[name.toLowerCase()]
  const kind: ToolKind = mcp === null ? (known ?? 'other') : known === 'send' ? 'send' : 'mcp'
  const fields = isObject(input) ? input : {}
  const raw = firstText(fields, FIELDS[kind])
  const isPath = kind === 'edit' || kind === 'write' || kind === 'read' || kind === 'list'
  return {
    kind,
    object:
      kind === 'question'
        ? (questionsOf(input ?? null)[0]?.text ?? '')
        : isPath
          ? relativePath(raw, workspace)
          : kind === 'shell'
            ? withoutCd(raw, workspace)
            : raw,
    detail: detailOf(kind, fields, workspace),
    name,
    server: mcp?.[1] ?? null,
    dangers: dangersOf(kind, raw, workspace),
  }
}

/** A path as a person in this workspace would say it. */
export function relativePath(path: string, workspace: string | null): string {
  if (workspace === null || workspace === '') return path
  if (path === workspace) return '.'
  const base = workspace.endsWith('/') ? workspace : `${workspace}/`
  return path.startsWith(base) ? path.slice(base.length) : path
}

/** Agents often begin with a change into the folder they are in anyway. */
function withoutCd(command: string, workspace: string | null): string {
  if (workspace === null) return command
  for (const quoted of [workspace, `"${workspace}"`, `'${workspace}'`]) {
    const prefix = `cd ${quoted} && `
    if (command.startsWith(prefix)) return command.slice(prefix.length)
  }
  return command
}

function detailOf(kind: ToolKind, fields: JsonObject, workspace: string | null): string {
  switch (kind) {
    case 'shell':
      return text(fields['description'])
    case 'search':
      return [relativePath(text(fields['path']), workspace), text(fields['glob'])].filter((part) => part !== '' && part !== '.').join(' ')
    case 'agent':
      return text(fields['subagent_type'])
    case 'read':
      return lineRange(fields)
    default:
      return ''
  }
}

function lineRange(fields: JsonObject): string {
  const { offset, limit } = fields
  if (typeof offset !== 'number' && typeof limit !== 'number') return ''
  const from = typeof offset === 'number' ? offset : 1
  return typeof limit === 'number' ? `${String(from)}–${String(from + limit - 1)}` : `${String(from)}–`
}

const DANGEROUS: readonly (readonly [Danger, RegExp])[] = [
  [
    'deletes',
    /(^|[\s;&|(])(rm|rmdir|unlink|shred|truncate|dd)\s|\bfind\b.*\s-delete\b|\bgit\s+(clean|reset\s+--hard)\b|\bDROP\s+(TABLE|DATABASE)\b/i,
  ],
  ['force', /\bgit\s+push\b.*(\s-f\b|--force)|\s--force\b|\bgit\s+commit\b.*--no-verify/],
  [
    'network',
    /(^|[\s;&|(])(curl|wget|ssh|scp|rsync|nc|telnet|ftp)\s|\bgit\s+(push|pull|fetch|clone)\b|\b(npm|pnpm|yarn|cargo|gem|twine)\s+publish\b|\b(npm|pnpm|yarn|pip3?|brew|apt|apt-get)\s+(i|add|install|ci)\b/,
  ],
  ['privileged', /(^|[\s;&|(])(sudo|su|doas|chown|chmod\s+(-R\s+)?[0-7]*777)\b/],
]

function dangersOf(kind: ToolKind, raw: string, workspace: string | null): Danger[] {
  if (kind === 'fetch' || kind === 'web-search') return ['network']
  if (kind === 'edit' || kind === 'write' || kind === 'read' || kind === 'list') return isOutside(raw, workspace) ? ['outside'] : []
  if (kind !== 'shell') return []
  return DANGEROUS.filter(([, pattern]) => pattern.test(raw)).map(([danger]) => danger)
}

function isOutside(path: string, workspace: string | null): boolean {
  if (workspace === null || path === '') return false
  if (path.split('/').includes('..')) return true
  return path.startsWith('/') && path !== workspace && !path.startsWith(workspace.endsWith('/') ? workspace : `${workspace}/`)
}

function firstText(fields: JsonObject, names: readonly string[]): string {
  for (const name of names) {
    const value = text(fields[name])
    if (value !== '') return value
  }
  return ''
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
