/** The SDK: one typed method for each route of PROTOCOL.md, section 5. All reject with `WheelhouseError`. */
import { call, type CallOptions, type ClientOptions } from './http.ts'
import type {
  Agent,
  AgentInput,
  Approval,
  ApprovalInput,
  CommandResult,
  HostInfo,
  LoginCode,
  Message,
  MessageInput,
  Page,
  Provider,
  ProviderInput,
  ProviderTest,
  SendResult,
  Session,
  SessionInput,
  SessionSnapshot,
  StopInput,
  StopResult,
  TranscriptPage,
} from './protocol/index.ts'
import { EventStream, type StreamOptions } from './sse.ts'

/** Changes of a provider; `apiKey: null` forgets the stored key, an absent one keeps it. */
export type ProviderChange = Partial<Omit<ProviderInput, 'apiKey'>> & { apiKey?: string | null }
/** Changes of an agent; absent fields stay. Sessions take them over with their next turn. */
export type AgentChange = Partial<AgentInput>
/** Changes of a session; absent fields stay. Another agent or folder counts from the next turn on. */
export type SessionChange = { name?: string; description?: string; agentId?: string; workspace?: { kind: 'user'; path: string } }
/** A page of a list: at most `limit` (200; 50 without) items behind `cursor`, the `nextCursor` of the page before. INVALID_CURSOR. */
export type ListQuery = { limit?: number; cursor?: string }

/** What {@link createClient} gives. */
export type WheelhouseClient = ReturnType<typeof createClient>

/**
 * A client of one host. POSTs carry an Idempotency-Key and are repeated with the same one when the
 * line is silent or the host says 503 retryable; to repeat a call later, give its key yourself.
 */
export function createClient(options: ClientOptions) {
  const get = <T>(path: string, query: { [name: string]: string | number | undefined } = {}, how?: CallOptions) =>
    call<T>(options, { method: 'GET', path, query }, how)
  const post = <T>(path: string, body: unknown, how?: CallOptions) => call<T>(options, { method: 'POST', path, body }, how)
  const patch = <T>(path: string, body: unknown, rev?: number, how?: CallOptions) =>
    call<T>(options, { method: 'PATCH', path, body, ...(rev === undefined ? {} : { rev }) }, how)
  const remove = (path: string, rev?: number, how?: CallOptions) =>
    call<undefined>(options, { method: 'DELETE', path, ...(rev === undefined ? {} : { rev }) }, how)

  return {
    /** Version, data directory, limits and drivers of the host. */
    info: (how?: CallOptions) => get<HostInfo>('/v1/info', {}, how),
    /** Trades the code of a one-time link for a cookie (browser). */
    login: (code: string, how?: CallOptions) => post<undefined>('/v1/login', { code }, how),
    /** Ends the cookie's login. */
    logout: (how?: CallOptions) => post<undefined>('/v1/logout', {}, how),
    /** A one-time link for a browser: good for 60 s. */
    createLoginCode: (how?: CallOptions) => post<LoginCode>('/v1/login-codes', {}, how),
    /** Changes and removals name the `rev` they were made from: STALE_REV when it is another by now. */
    providers: {
      list: (query: ListQuery = {}, how?: CallOptions) => get<Page<Provider>>('/v1/providers', query, how),
      get: (id: string, how?: CallOptions) => get<Provider>(`/v1/providers/${id}`, {}, how),
      create: (input: ProviderInput, how?: CallOptions) => post<Provider>('/v1/providers', input, how),
      update: (id: string, change: ProviderChange, rev: number, how?: CallOptions) =>
        patch<Provider>(`/v1/providers/${id}`, change, rev, how),
      remove: (id: string, rev: number, how?: CallOptions) => remove(`/v1/providers/${id}`, rev, how),
      test: (id: string, input: { modelId?: string } = {}, how?: CallOptions) => post<ProviderTest>(`/v1/providers/${id}/test`, input, how),
    },
    agents: {
      list: (query: ListQuery = {}, how?: CallOptions) => get<Page<Agent>>('/v1/agents', query, how),
      get: (id: string, how?: CallOptions) => get<Agent>(`/v1/agents/${id}`, {}, how),
      create: (input: AgentInput, how?: CallOptions) => post<Agent>('/v1/agents', input, how),
      update: (id: string, change: AgentChange, rev: number, how?: CallOptions) => patch<Agent>(`/v1/agents/${id}`, change, rev, how),
      remove: (id: string, rev: number, how?: CallOptions) => remove(`/v1/agents/${id}`, rev, how),
    },
    sessions: {
      list: (query: ListQuery & { agentId?: string } = {}, how?: CallOptions) => get<Page<Session>>('/v1/sessions', query, how),
      get: (id: string, how?: CallOptions) => get<SessionSnapshot>(`/v1/sessions/${id}`, {}, how),
      create: (input: SessionInput, how?: CallOptions) => post<Session>('/v1/sessions', input, how),
      update: (id: string, change: SessionChange, rev: number, how?: CallOptions) => patch<Session>(`/v1/sessions/${id}`, change, rev, how),
      remove: (id: string, rev: number, how?: CallOptions) => remove(`/v1/sessions/${id}`, rev, how),
      /** A page of the transcript, ascending; the newest without `before`. */
      transcript: (id: string, query: { limit?: number; before?: string } = {}, how?: CallOptions) =>
        get<TranscriptPage>(`/v1/sessions/${id}/messages`, query, how),
      /** Saved when it resolves; the row tells what became of it. QUEUE_FULL, SESSION_QUARANTINED, WORKSPACE_*, DISK_LOW, HELD. */
      send: (id: string, input: MessageInput, how?: CallOptions) => post<SendResult>(`/v1/sessions/${id}/messages`, input, how),
      /** Stops what runs; with `turnId` only that turn (TURN_NOT_CURRENT). */
      stop: (id: string, input: StopInput = {}, how?: CallOptions) => post<StopResult>(`/v1/sessions/${id}/stop`, input, how),
      /** Runs what is held. */
      runQueue: (id: string, how?: CallOptions) => post<CommandResult>(`/v1/sessions/${id}/queue/run`, {}, how),
      /** Withdraws what is held, and nothing else. */
      discardQueue: (id: string, how?: CallOptions) => post<CommandResult>(`/v1/sessions/${id}/queue/discard`, {}, how),
      /** Ends a quarantine (SESSION_NOT_QUARANTINED). */
      release: (id: string, how?: CallOptions) => post<CommandResult>(`/v1/sessions/${id}/release`, {}, how),
    },
    /** Inputs that are not taken yet: INPUT_ALREADY_TAKEN, or INPUT_NOT_UNKNOWN for the last two. */
    messages: {
      edit: (sessionId: string, id: string, input: Pick<MessageInput, 'text' | 'parts'>, how?: CallOptions) =>
        patch<Message>(`/v1/sessions/${sessionId}/messages/${id}`, input, undefined, how),
      withdraw: (sessionId: string, id: string, how?: CallOptions) => remove(`/v1/sessions/${sessionId}/messages/${id}`, undefined, how),
      resend: (sessionId: string, id: string, how?: CallOptions) =>
        post<CommandResult>(`/v1/sessions/${sessionId}/messages/${id}/resend`, {}, how),
      dismiss: (sessionId: string, id: string, how?: CallOptions) =>
        post<CommandResult>(`/v1/sessions/${sessionId}/messages/${id}/dismiss`, {}, how),
    },
    approvals: {
      list: (query: ListQuery & { sessionId?: string; status?: 'pending' } = {}, how?: CallOptions) =>
        get<Page<Approval>>('/v1/approvals', query, how),
      /** The first answer counts, whoever gives it: APPROVAL_NOT_PENDING for the others. */
      answer: (id: string, input: ApprovalInput, how?: CallOptions) => post<Approval>(`/v1/approvals/${id}`, input, how),
    },
    /** The resumable stream; see `EventStream`. */
    stream: (how: StreamOptions = {}) => new EventStream(options, how),
  }
}
