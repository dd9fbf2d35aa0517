/** Routes of sessions: their rows, commands and streams. */
import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { LIMITS, type MessageInput, type SessionInput, type StopInput } from '@wheelhouse/client/protocol'
import { z } from 'zod'
import { HostError } from '../../host/host-api.ts'
import type { Host } from '../../host/host.ts'
import { keyOf } from '../idempotency.ts'
import { once, revOf } from '../preconditions.ts'
import { empty, messageChange, messageInput, paging, sessionChange, sessionInput, stopInput } from '../schemas.ts'
import { NAMED_MAX, openStream, positionsOf } from '../sse.ts'

const params = z.object({ id: z.string().max(200) })
const messageParams = params.extend({ mid: z.string().max(200) })
const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(LIMITS.pageMax).default(LIMITS.pageDefault),
  before: z.coerce.number().int().min(0).optional(),
})
const streamQuery = z.object({
  session: z.union([z.string(), z.array(z.string()).max(NAMED_MAX)]).optional(),
  cursor: z.string().max(10_000).optional(),
})

export function sessionRoutes(app: FastifyInstance, host: Host, streams: Set<() => void>): void {
  const typed = app.withTypeProvider<ZodTypeProvider>()
  const { lifecycle } = host

  typed.post('/v1/sessions', { schema: { body: sessionInput } }, async (request, reply) => {
    const key = keyOf(request.headers['idempotency-key']?.toString(), request.body)
    return reply.code(201).send(await lifecycle.createSession(request.body as SessionInput, key))
  })
  typed.get('/v1/sessions', { schema: { querystring: paging.extend({ agentId: z.string().max(200).optional() }) } }, ({ query }) =>
    lifecycle.listSessions({ limit: query.limit, cursor: query.cursor ?? null, agentId: query.agentId ?? null }),
  )
  typed.get('/v1/sessions/:id', { schema: { params } }, (request) => host.snapshot(request.params.id))
  typed.patch('/v1/sessions/:id', { schema: { params, body: sessionChange } }, (request) => {
    host.snapshot(request.params.id)
    return lifecycle.updateSession(request.params.id, revOf(request.headers['if-match']), request.body)
  })
  typed.delete('/v1/sessions/:id', { schema: { params } }, async (request, reply) => {
    host.snapshot(request.params.id)
    await lifecycle.deleteSession(request.params.id, revOf(request.headers['if-match']))
    return reply.code(204).send()
  })

  typed.get('/v1/sessions/:id/messages', { schema: { params, querystring: pageQuery } }, (request) =>
    host.transcript(request.params.id, { limit: request.query.limit, before: request.query.before ?? null }),
  )
  typed.post('/v1/sessions/:id/messages', { schema: { params, body: messageInput } }, async (request, reply) => {
    const key = keyOf(request.headers['idempotency-key']?.toString(), request.body)
    return reply.code(202).send(await host.send(request.params.id, request.body as MessageInput, request.caller, key))
  })
  typed.patch('/v1/sessions/:id/messages/:mid', { schema: { params: messageParams, body: messageChange } }, (request) =>
    host.edit(request.params.id, request.params.mid, request.body as Pick<MessageInput, 'text' | 'parts'>),
  )
  typed.delete('/v1/sessions/:id/messages/:mid', { schema: { params: messageParams } }, async (request, reply) => {
    await host.withdraw(request.params.id, request.params.mid)
    return reply.code(204).send()
  })

  const command = { schema: { params, body: empty } }
  const onMessage = { schema: { params: messageParams, body: empty } }
  typed.post('/v1/sessions/:id/messages/:mid/resend', onMessage, (request, reply) =>
    once(host, request, reply, 202, () => commandResult(host.settle(request.params.id, request.params.mid, 'resent'))),
  )
  typed.post('/v1/sessions/:id/messages/:mid/dismiss', onMessage, (request, reply) =>
    once(host, request, reply, 202, () => commandResult(host.settle(request.params.id, request.params.mid, 'dismissed'))),
  )
  typed.post('/v1/sessions/:id/stop', { schema: { params, body: stopInput.nullish() } }, (request, reply) =>
    once(host, request, reply, 202, () => host.stopTurn(request.params.id, (request.body ?? {}) as StopInput, request.caller)),
  )
  typed.post('/v1/sessions/:id/queue/run', command, (request, reply) =>
    once(host, request, reply, 202, () => commandResult(host.runQueue(request.params.id))),
  )
  typed.post('/v1/sessions/:id/queue/discard', command, (request, reply) =>
    once(host, request, reply, 202, () => commandResult(host.discardQueue(request.params.id))),
  )
  typed.post('/v1/sessions/:id/release', command, (request, reply) =>
    once(host, request, reply, 202, () => commandResult(host.release(request.params.id))),
  )

  // A HEAD that opened a stream would never end.
  typed.get('/v1/sessions/:id/stream', { exposeHeadRoute: false, schema: { params, querystring: streamQuery } }, (request, reply) => {
    const { id } = request.params
    const positions = positionsOf(request.headers['last-event-id']?.toString(), request.query.cursor, id)
    host.snapshot(id)
    checkRoom(streams)
    reply.hijack()
    track(streams, openStream(host, reply.raw, { sessions: [id], positions, all: false }), reply.raw)
  })
  typed.get('/v1/stream', { exposeHeadRoute: false, schema: { querystring: streamQuery } }, (request, reply) => {
    const { session = [], cursor } = request.query
    const sessions = [...new Set(typeof session === 'string' ? [session] : session)]
    if (sessions.length > NAMED_MAX) throw new HostError('INVALID_REQUEST', `A stream names at most ${NAMED_MAX} sessions.`)
    const positions = positionsOf(request.headers['last-event-id']?.toString(), cursor, null)
    checkRoom(streams)
    reply.hijack()
    track(streams, openStream(host, reply.raw, { sessions, positions, all: true }), reply.raw)
  })
}

/** Refused before anything is sent: a stream that is open is never ended for a new one. */
function checkRoom(streams: ReadonlySet<unknown>): void {
  if (streams.size >= LIMITS.streams) throw new HostError('TOO_MANY_STREAMS', `${streams.size} are open.`)
}

/** Streams end with the server. */
function track(streams: Set<() => void>, end: () => void, raw: NodeJS.EventEmitter): void {
  streams.add(end)
  raw.once('close', () => streams.delete(end))
}

async function commandResult(answer: Promise<{ messageId: string | null; turnId: string | null; cursor: string }>): Promise<unknown> {
  const { messageId, turnId, cursor } = await answer
  return { messageId, turnId, cursor }
}
