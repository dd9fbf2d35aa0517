/** The change a tool call makes to a file, read from its input. Pure. */
import type { Json, JsonObject } from '@wheelhouse/client'
import { diffLines, type Diff } from './diff.ts'

/** Diffs of an edit or write call; null when the input holds none (yet). */
export function diffOfCall(input: Json | undefined): Diff | null {
  if (!isObject(input)) return null
  const edits = Array.isArray(input['edits']) ? input['edits'] : [input]
  const diffs = edits.flatMap((edit): Diff[] => (isObject(edit) ? one(edit) : []))
  if (diffs.length === 0) return null
  return {
    lines: diffs.flatMap((diff) => diff.lines),
    added: diffs.reduce((sum, diff) => sum + diff.added, 0),
    removed: diffs.reduce((sum, diff) => sum + diff.removed, 0),
  }
}

function one(edit: JsonObject): Diff[] {
  const before = text(edit['old_string'] ?? edit['oldText'] ?? edit['old_str'])
  const after = text(edit['new_string'] ?? edit['newText'] ?? edit['new_str'])
  if (before !== null && after !== null) return [diffLines(before, after)]
  const whole = text(edit['content'] ?? edit['file_text'])
  return whole === null ? [] : [diffLines('', whole)]
}

const text = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)
const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
