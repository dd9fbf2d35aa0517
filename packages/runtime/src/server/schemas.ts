/** Shapes of what clients send: parsed here, before anything else sees them. */
import {
  LIMITS,
  wellFormed,
  type AgentInput,
  type ApprovalInput,
  type JsonObject,
  type MessageInput,
  type ProviderInput,
  type SessionInput,
  type StopInput,
} from '@wheelhouse/client/protocol'
import { z } from 'zod'

/** A key of a client: what PROTOCOL, Headers allows. */
export const IDEMPOTENCY_KEY = /^[A-Za-z0-9._:-]{1,128}$/
/** Instructions are prompt text; more than this fits no context beside a conversation. */
const INSTRUCTIONS_LENGTH = 200_000
/** Lists in agents and providers: far more than a person picks by hand. */
const LIST_LENGTH = 500

const id = z.string().min(1).max(64)
/** Names of the world that are passed on as they are: a character that cannot be seen would make another name of it. */
const term = z
  .string()
  .trim()
  .min(1, 'It must not be empty')
  .max(LIMITS.nameLength)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'It must not hold control characters or halves of characters')
const name = z.string().trim().min(1, 'It must not be empty').max(LIMITS.nameLength)
/** Parsed JSON already: what stands in it is the business of the tool it goes to. */
const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'It must be an object',
)
const price = z.number().nonnegative()

export const paging = z.object({
  limit: z.coerce.number().int().min(1).max(LIMITS.pageMax).default(LIMITS.pageDefault),
  cursor: z.string().max(200).optional(),
})

const model = z.object({
  id: term,
  name: z.string().max(LIMITS.nameLength).transform(wellFormed).optional(),
  contextWindow: z.number().int().positive().optional(),
  pricing: z.object({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() }).optional(),
})
const protocol = z.enum(['anthropic', 'openai-chat', 'openai-responses'])
const baseUrl = z.string().trim().min(1).max(2000)
/** Printable and without spaces: it travels in a header. */
const apiKey = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]{1,4096}$/, 'A key is one word of plain letters, digits and signs')

export const providerInput = z.object({ name, protocol, baseUrl, apiKey: apiKey.optional(), models: z.array(model).max(LIST_LENGTH) })
export const providerChange = z
  .object({ name, protocol, baseUrl, apiKey: apiKey.nullable(), models: z.array(model).max(LIST_LENGTH) })
  .partial()
export const providerTestInput = z.object({ modelId: term.optional() })

const agentFields = {
  name,
  type: z.string().min(1).max(64),
  providerId: id.nullable().optional(),
  modelId: term.nullable().optional(),
  instructions: z.string().max(INSTRUCTIONS_LENGTH).optional(),
  permissionMode: z.enum(['default', 'acceptEdits', 'bypassPermissions', 'plan', 'auto']).optional(),
  disabledTools: z.array(term).max(LIST_LENGTH).optional(),
  mcpServerIds: z.array(id).max(LIST_LENGTH).optional(),
  skillIds: z.array(id).max(LIST_LENGTH).optional(),
  channels: z
    .array(z.object({ kind: term, name: z.string().max(LIMITS.nameLength).transform(wellFormed) }))
    .max(LIST_LENGTH)
    .optional(),
  language: z.string().max(35).nullable().optional(),
}
export const agentInput = z.object(agentFields)
export const agentChange = z.object(agentFields).partial()

const path = z.string().min(1).max(4096)
const text = z.string().max(LIMITS.nameLength)
const description = z.string().max(10_000)
export const sessionInput = z.object({
  agentId: id,
  name: text.optional(),
  description: description.optional(),
  workspace: z
    .discriminatedUnion('kind', [z.object({ kind: z.literal('system') }), z.object({ kind: z.literal('user'), path })])
    .optional(),
})
export const sessionChange = z
  .object({ name: text, description, agentId: id, workspace: z.object({ kind: z.literal('user'), path }) })
  .partial()

const parts = z
  .array(z.object({ type: z.literal('text'), text: z.string() }))
  .min(1)
  .max(100)
export const messageInput = z.object({
  text: z.string().optional(),
  parts: parts.optional(),
  when: z.enum(['steer', 'queue']).optional(),
  origin: z.enum(['interactive', 'channel', 'scheduled']).optional(),
})
export const messageChange = z.object({ text: z.string().optional(), parts: parts.optional() })
export const stopInput = z.object({ turnId: id.optional(), queue: z.enum(['hold', 'run', 'discard']).optional() })
export const approvalInput = z.object({
  decision: z.enum(['allow', 'deny']),
  reason: z.string().max(10_000).optional(),
  updatedInput: jsonObject.optional(),
  answers: z.record(z.string(), z.string()).optional(),
})
export const loginInput = z.object({ code: z.string().min(1).max(200) })
export const empty = z.object({}).nullish()

type Agrees<Schema extends z.ZodType, Type> = z.input<Schema> extends Loose<Type> ? true : never
type Loose<T> = { [K in keyof T]: T[K] | undefined }
/**
 * The schemas accept exactly what the published types promise; a difference does not compile.
 * @public
 */
export type SchemasAgree = [
  Agrees<typeof providerInput, ProviderInput>,
  Agrees<typeof agentInput, AgentInput>,
  Agrees<typeof sessionInput, SessionInput>,
  Agrees<typeof messageInput, MessageInput>,
  Agrees<typeof stopInput, StopInput>,
  Agrees<typeof approvalInput, ApprovalInput>,
]
