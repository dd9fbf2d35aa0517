/** The SDK, loaded when it is first needed: a host without it still starts. */
import { createRequire } from 'node:module'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SDK_PACKAGE = '@anthropic-ai/claude-agent-sdk'
/** The version this driver was written and tested against. */
const SDK_VERSION = '0.3.333'
export const INSTALL_ADVICE = `Run: npm install ${SDK_PACKAGE}@${SDK_VERSION}`

export type Sdk = typeof import('@anthropic-ai/claude-agent-sdk')

/** Rejects when the package is not installed. */
export const loadSdk = (): Promise<Sdk> => import('@anthropic-ai/claude-agent-sdk')

export type Probe = { installed: boolean; version: string | null; advice: string | null }

/** Looks for the package and for the CLI of this platform beside it, without loading either. */
export function probeSdk(): Probe {
  try {
    const entry = fileURLToPath(import.meta.resolve(SDK_PACKAGE))
    const version = /"version":\s*"([^"]+)"/.exec(readFileSync(join(dirname(entry), 'package.json'), 'utf8'))?.[1] ?? null
    if (hasNativeCli(entry)) return { installed: true, version, advice: null }
    return {
      installed: false,
      version,
      advice: `The CLI for ${process.platform}-${process.arch} is missing. ${INSTALL_ADVICE} --include=optional`,
    }
  } catch {
    // Not installed: resolving the package fails.
    return { installed: false, version: null, advice: INSTALL_ADVICE }
  }
}

function hasNativeCli(entry: string): boolean {
  const program = process.platform === 'win32' ? 'claude.exe' : 'claude'
  const names = [`${SDK_PACKAGE}-${process.platform}-${process.arch}`, `${SDK_PACKAGE}-${process.platform}-${process.arch}-musl`]
  const search = createRequire(entry).resolve.paths(SDK_PACKAGE) ?? []
  return search.some((place) => names.some((name) => existsSync(join(place, name, program))))
}
