/** Headers that guard a change: If-Match, and the Idempotency-Key of POSTs that make no row. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HostError } from '../host/host-api.ts'
import type { Host } from '../host/host.ts'
import { keyOf } from './idempotency.ts'

/** The rev a client read; PRECONDITION_REQUIRED without one. */
export function revOf(header: string | undefined): number {
  if (header === undefined) throw new HostError('PRECONDITION_REQUIRED')
  const rev = /^(?:W\/)?"?(\d{1,15})"?$/.exec(header.trim())?.[1]
  if (rev === undefined) throw new HostError('INVALID_REQUEST', 'If-Match must be the rev as you read it.')
  return Number(rev)
}

/** Runs a POST that makes no row, or repeats the answer it gave for this key within 24 h (decision 4). A refusal leaves no key. */
export async function once(
  host: Host,
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  run: () => unknown,
): Promise<FastifyReply> {
  const { idempotencyKey, bodyHash } = keyOf(request.headers['idempotency-key']?.toString(), request.body)
  if (idempotencyKey === null || bodyHash === null) return reply.code(status).send(await run())
  const name = `${request.url.split('?', 1)[0]} ${idempotencyKey}`
  const answer = await host.once(name, { bodyHash, status }, run)
  return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body)
}
