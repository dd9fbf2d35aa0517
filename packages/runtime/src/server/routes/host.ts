/** Routes about the host itself: liveness, description, login. */
import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Registry } from 'prom-client'
import type { Host } from '../../host/host.ts'
import type { Gate } from '../auth.ts'
import { factsOf } from '../http.ts'
import { empty, loginInput } from '../schemas.ts'

export type HostRoutePorts = { host: Host; gate(): Gate; registry: Registry; openapi(): unknown; url(): string }

export function hostRoutes(app: FastifyInstance, { host, gate, registry, openapi, url }: HostRoutePorts): void {
  const typed = app.withTypeProvider<ZodTypeProvider>()
  typed.get('/healthz', () => ({ ok: true }))
  typed.get('/openapi.json', () => openapi())
  typed.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()))
  typed.get('/v1/info', () => host.info())
  typed.post('/v1/login-codes', { schema: { body: empty } }, (_request, reply) => {
    const { code, expiresAt } = gate().issueCode()
    return reply.code(201).send({ code, url: `${url()}/#code=${code}`, expiresAt })
  })
  typed.post('/v1/login', { schema: { body: loginInput } }, (request, reply) =>
    reply.header('set-cookie', gate().login(request.body.code, request.headers.origin)).code(204).send(),
  )
  typed.post('/v1/logout', { schema: { body: empty } }, (request, reply) =>
    reply
      .header('set-cookie', gate().logout(factsOf(request).cookie))
      .code(204)
      .send(),
  )
}
