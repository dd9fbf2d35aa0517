/** "Test connection": one smallest request to a provider, told in words a person can act on. */
import { wellFormed, type Provider, type ProviderTest } from '@wheelhouse/client/protocol'
import { cut } from './text.ts'

/** A provider that has not answered by then is taken for unreachable. */
const TEST_MS = 15_000
/** Of the provider's answer; its words stand at the beginning. */
const ANSWER_LENGTH = 65_536
/** Of the provider's own words. */
const DETAIL_LENGTH = 500

/** Never rejects; a refusal is an answer. */
export async function testProvider(provider: Provider, apiKey: string | null, modelId: string | null): Promise<ProviderTest> {
  const started = performance.now()
  const took = (): number => Math.round(performance.now() - started)
  const model = modelId ?? provider.models[0]?.id ?? null
  if (model === null) return { ok: false, status: null, detail: 'The provider has no model to test with.', latencyMs: 0 }
  try {
    const response = await fetch(...requestOf(provider, apiKey, model))
    const text = await beginningOf(response)
    return { ok: response.ok, status: response.status, detail: response.ok ? null : wordsOf(text, apiKey), latencyMs: took() }
  } catch (error) {
    return { ok: false, status: null, detail: reasonOf(error, provider.baseUrl), latencyMs: took() }
  }
}

/** As much as its words can take; a provider may answer without end. */
async function beginningOf(response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true })
    if (text.length > ANSWER_LENGTH) break
  }
  return text
}

/** A redirect would take the key to another host. */
function requestOf(provider: Provider, apiKey: string | null, model: string): [string, RequestInit] {
  const signal = AbortSignal.timeout(TEST_MS)
  const headers: { [name: string]: string } = { 'content-type': 'application/json' }
  const messages = [{ role: 'user', content: 'ping' }]
  if (provider.protocol === 'anthropic') {
    if (apiKey !== null) headers['x-api-key'] = apiKey
    headers['anthropic-version'] = '2023-06-01'
    return [
      `${provider.baseUrl}/v1/messages`,
      { method: 'POST', headers, signal, redirect: 'error', body: JSON.stringify({ model, max_tokens: 1, messages }) },
    ]
  }
  if (apiKey !== null) headers['authorization'] = `Bearer ${apiKey}`
  const path = provider.protocol === 'openai-chat' ? 'chat/completions' : 'responses'
  const body = provider.protocol === 'openai-chat' ? { model, max_tokens: 1, messages } : { model, max_output_tokens: 16, input: 'ping' }
  return [`${provider.baseUrl}/${path}`, { method: 'POST', headers, signal, redirect: 'error', body: JSON.stringify(body) }]
}

/** The provider's own words, without the key it may have echoed, in whatever way its JSON spells it. */
function wordsOf(text: string, apiKey: string | null): string {
  const words = wellFormed(messageIn(text) ?? text)
  return cut(apiKey === null ? words : words.replaceAll(apiKey, '[key]'), DETAIL_LENGTH)
}

function messageIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    return typeof error?.message === 'string' ? error.message : null
  } catch {
    // Not JSON: its text is shown as it is.
    return null
  }
}

function reasonOf(error: unknown, baseUrl: string): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return `${baseUrl} did not answer within ${TEST_MS / 1000} s.`
  const cause =
    error instanceof Error && error.cause instanceof Error ? error.cause.message : error instanceof Error ? error.message : String(error)
  return `${baseUrl} cannot be reached: ${cause}`
}
