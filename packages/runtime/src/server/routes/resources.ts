/** Routes of providers, agents and approvals. */
import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { AgentInput, Approval, ApprovalInput, Page, ProviderInput } from '@wheelhouse/client/protocol'
import { z } from 'zod'
import { HostError } from '../../host/host-api.ts'
import type { Host } from '../../host/host.ts'
import { keyOf } from '../idempotency.ts'
import { once, revOf } from '../preconditions.ts'
import { agentChange, agentInput, approvalInput, paging, providerChange, providerInput, providerTestInput } from '../schemas.ts'

const params = z.object({ id: z.string().max(200) })

export function resourceRoutes(app: FastifyInstance, host: Host): void {
  const typed = app.withTypeProvider<ZodTypeProvider>()
  const { lifecycle } = host

  typed.post('/v1/providers', { schema: { body: providerInput } }, (request, reply) => {
    const key = keyOf(request.headers['idempotency-key']?.toString(), request.body)
    return reply.code(201).send(lifecycle.createProvider(request.body as ProviderInput, key))
  })
  typed.get('/v1/providers', { schema: { querystring: paging } }, (request) => pageOf(lifecycle.listProviders(), request.query))
  typed.get('/v1/providers/:id', { schema: { params } }, (request) => lifecycle.readProvider(request.params.id))
  typed.patch('/v1/providers/:id', { schema: { params, body: providerChange } }, (request) => {
    lifecycle.readProvider(request.params.id)
    return lifecycle.updateProvider(
      request.params.id,
      revOf(request.headers['if-match']),
      request.body as Parameters<typeof lifecycle.updateProvider>[2],
    )
  })
  typed.delete('/v1/providers/:id', { schema: { params } }, (request, reply) => {
    lifecycle.readProvider(request.params.id)
    lifecycle.deleteProvider(request.params.id, revOf(request.headers['if-match']))
    return reply.code(204).send()
  })
  typed.post('/v1/providers/:id/test', { schema: { params, body: providerTestInput.nullish() } }, (request) =>
    host.testProvider(request.params.id, request.body?.modelId ?? null),
  )

  typed.post('/v1/agents', { schema: { body: agentInput } }, (request, reply) => {
    const key = keyOf(request.headers['idempotency-key']?.toString(), request.body)
    return reply.code(201).send(lifecycle.createAgent(request.body as AgentInput, key))
  })
  typed.get('/v1/agents', { schema: { querystring: paging } }, (request) => pageOf(host.listAgents(), request.query))
  typed.get('/v1/agents/:id', { schema: { params } }, (request) => host.readAgent(request.params.id))
  typed.patch('/v1/agents/:id', { schema: { params, body: agentChange } }, (request) => {
    host.readAgent(request.params.id)
    return lifecycle.updateAgent(request.params.id, revOf(request.headers['if-match']), request.body)
  })
  typed.delete('/v1/agents/:id', { schema: { params } }, (request, reply) => {
    host.readAgent(request.params.id)
    lifecycle.deleteAgent(request.params.id, revOf(request.headers['if-match']))
    return reply.code(204).send()
  })

  const approvalQuery = paging.extend({ sessionId: z.string().max(200).optional(), status: z.literal('pending').optional() })
  typed.get('/v1/approvals', { schema: { querystring: approvalQuery } }, (request) => approvalPage(host, request.query))
  typed.post('/v1/approvals/:id', { schema: { params, body: approvalInput } }, (request, reply) =>
    once(host, request, reply, 200, () => host.answerApproval(request.params.id, request.body as ApprovalInput, request.caller)),
  )
}

type Paging = { limit: number; cursor?: string | undefined }

/** The cursor is the number of the last approval seen. */
function approvalPage(host: Host, query: Paging & { sessionId?: string | undefined; status?: 'pending' | undefined }): Page<Approval> {
  const { sessionId = null, status = null, limit, cursor = '0' } = query
  if (!/^\d{1,15}$/.test(cursor)) throw new HostError('INVALID_CURSOR', cursor.slice(0, 100))
  const found = host.listApprovals({ sessionId, status }, { after: Number(cursor), limit: limit + 1 })
  const items = found.slice(0, limit)
  return { items, nextCursor: found.length > limit ? String(items.at(-1)?.no) : null }
}

/** A page of a list that fits in memory; the cursor names the last item seen. INVALID_CURSOR when that is gone. */
function pageOf<T extends { id: string }>(items: readonly T[], query: Paging): Page<T> {
  const from = query.cursor === undefined ? 0 : items.findIndex((item) => item.id === query.cursor) + 1
  if (query.cursor !== undefined && from === 0) throw new HostError('INVALID_CURSOR', query.cursor.slice(0, 100))
  const page = items.slice(from, from + query.limit)
  return { items: page, nextCursor: from + query.limit < items.length ? (page.at(-1)?.id ?? null) : null }
}
