/**
 * The first start: a practice provider and an agent on it, so that a person without a key sees a
 * real agent at work; with a key in the environment, a provider and an agent on that, too. What a
 * person changed or removed later stays as they left it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from '../host/data-dir.ts'
import type { Host } from '../host/host.ts'
import { PRACTICE_MODELS } from '../models/practice/server.ts'

/** Remembers in the data directory what was made, by purpose. */
type Furniture = { practiceProviderId?: string | undefined; anthropicProviderId?: string }

const ANTHROPIC_URL = 'https://api.anthropic.com'
const ANTHROPIC_MODELS = [
  { id: 'claude-sonnet-4-5', name: 'Claude Sonnet 4.5', contextWindow: 200_000 },
  { id: 'claude-opus-4-5', name: 'Claude Opus 4.5', contextWindow: 200_000 },
  { id: 'claude-haiku-4-5', name: 'Claude Haiku 4.5', contextWindow: 200_000 },
]
const PRACTICE_NAME = 'Practice model'
const UNKEYED = { idempotencyKey: null, bodyHash: null }

export function furnish(host: Host, found: { practiceUrl: string | null; anthropicKey: string | null }): void {
  const file = join(host.dataDir.path, 'furniture.json')
  const made = readFurniture(file)
  if (found.practiceUrl !== null) practice(host, made, found.practiceUrl)
  if (found.anthropicKey !== null && made.anthropicProviderId === undefined) anthropic(host, made, found.anthropicKey)
  writePrivate(file, JSON.stringify(made))
}

function readFurniture(file: string): Furniture {
  try {
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Furniture) : {}
  } catch {
    // Damaged: what was made is known by its name.
    return {}
  }
}

/** Makes them once; afterwards only the address follows the server's port. */
function practice(host: Host, made: Furniture, url: string): void {
  const { lifecycle } = host
  made.practiceProviderId ??= lifecycle.listProviders().find((each) => each.name === PRACTICE_NAME)?.id
  if (made.practiceProviderId !== undefined) {
    const provider = lifecycle.listProviders().find((each) => each.id === made.practiceProviderId)
    if (provider !== undefined && provider.baseUrl !== url) lifecycle.updateProvider(provider.id, provider.rev, { baseUrl: url })
    return
  }
  const models = PRACTICE_MODELS.map((model) => ({ ...model }))
  const provider = lifecycle.createProvider(
    { name: PRACTICE_NAME, protocol: 'anthropic', baseUrl: url, apiKey: 'practice', models },
    UNKEYED,
  )
  made.practiceProviderId = provider.id
  lifecycle.createAgent({ name: 'Practice agent', type: 'claude-code', providerId: provider.id, modelId: models[0]?.id ?? null }, UNKEYED)
}

function anthropic(host: Host, made: Furniture, apiKey: string): void {
  const { lifecycle } = host
  const provider = lifecycle.createProvider(
    { name: 'Anthropic', protocol: 'anthropic', baseUrl: ANTHROPIC_URL, apiKey, models: ANTHROPIC_MODELS },
    UNKEYED,
  )
  made.anthropicProviderId = provider.id
  lifecycle.createAgent(
    { name: 'anthropic', type: 'claude-code', providerId: provider.id, modelId: ANTHROPIC_MODELS[0]?.id ?? null },
    UNKEYED,
  )
}
