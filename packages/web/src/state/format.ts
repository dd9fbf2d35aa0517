/** Times, durations and counts in words. Pure; `locale` is a BCP 47 tag, the clock is given. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `14:02`, in the reader's time zone. */
export function clockTime(at: string | number, locale: string): string {
  return formatter(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(new Date(at))
}

/** Day, month and time, for a tooltip. */
export function fullTime(at: string | number, locale: string): string {
  return formatter(locale, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(at))
}

/** How old something is, in the width of a list: `now`, `5m`, `3h`, `2d`, then a date. */
export function shortAge(at: string, now: number, locale: string, words: { now: string; m: string; h: string; d: string }): string {
  const age = now - Date.parse(at)
  if (age < MINUTE) return words.now
  if (age < HOUR) return `${String(Math.floor(age / MINUTE))}${words.m}`
  if (age < DAY) return `${String(Math.floor(age / HOUR))}${words.h}`
  if (age < 7 * DAY) return `${String(Math.floor(age / DAY))}${words.d}`
  return formatter(locale, { month: 'short', day: 'numeric' }).format(new Date(at))
}

/** `46 ms`, `1.4 s`, `12 s`, `2 m 14 s`, `1 h 3 m`. */
export function duration(ms: number, words: { h: string; m: string; s: string }): string {
  if (ms < SECOND) return `${String(Math.max(0, Math.round(ms)))} ms`
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} ${words.s}`
  const seconds = Math.round(ms / SECOND)
  if (seconds < 60) return `${String(seconds)} ${words.s}`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return join(minutes, words.m, seconds % 60, words.s)
  return join(Math.floor(minutes / 60), words.h, minutes % 60, words.m)
}

const join = (big: number, bigWord: string, small: number, smallWord: string): string =>
  small === 0 ? `${String(big)} ${bigWord}` : `${String(big)} ${bigWord} ${String(small)} ${smallWord}`

/** Tokens: `850`, `12k`, `1.2M`. */
export function tokens(count: number): string {
  if (count < 1_000) return String(count)
  if (count < 1_000_000) return `${String(Math.round(count / 1_000))}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

/** The calendar day in the reader's zone, to tell days apart. */
export function dayKey(at: string): string {
  const date = new Date(at)
  return `${String(date.getFullYear())}-${String(date.getMonth() + 1)}-${String(date.getDate())}`
}

/** `Today`, `Yesterday`, else weekday and date. */
export function dayName(at: string, now: number, locale: string, words: { today: string; yesterday: string }): string {
  const key = dayKey(at)
  if (key === dayKey(new Date(now).toISOString())) return words.today
  if (key === dayKey(new Date(now - DAY).toISOString())) return words.yesterday
  return formatter(locale, { weekday: 'long', day: 'numeric', month: 'long' }).format(new Date(at))
}

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatter(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = locale + JSON.stringify(options)
  const known = formatters.get(key) ?? new Intl.DateTimeFormat(locale, options)
  formatters.set(key, known)
  return known
}
