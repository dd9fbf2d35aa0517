/** The log: one JSON line an event on stderr; secrets are cut out by name, and nothing that may hold one elsewhere is logged (BUG-56). */
import { pino, type Logger as PinoLogger } from 'pino'

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error'>

/** `level` as pino names it; `silent` for embedders with a log of their own. */
export function createLogger(level: string): Logger {
  const redact = ['apiKey', '*.apiKey', 'token', '*.token', 'authorization', '*.authorization', 'cookie', '*.cookie', 'code', '*.loginCode']
  return pino({ level, base: null, redact }, pino.destination({ dest: 2, sync: true }))
}
