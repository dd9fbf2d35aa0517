/** The Wheelhouse SDK: wire types, a typed client, the resumable stream, the pure view of a session. */
export * from './protocol/index.ts'
export { createClient, type WheelhouseClient, type ProviderChange, type AgentChange, type SessionChange, type ListQuery } from './client.ts'
export { listAll } from './list-all.ts'
export { newIdempotencyKey, type ClientOptions, type CallOptions, type FetchLike } from './http.ts'
export { WheelhouseError, explain, tellProblem, type LineFailure } from './error.ts'
export { EventStream, type LineState, type StreamOptions } from './sse.ts'
export { createFrameParser, type Frame } from './frames.ts'
export { compareCursors, readVector, writeVector } from './cursor.ts'
export {
  emptyView,
  applyEvent,
  applyPage,
  contentOf,
  isPageTooOld,
  joinViews,
  type SessionView,
  type PendingContent,
  type RetryNote,
} from './view.ts'
