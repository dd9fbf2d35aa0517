/** The HTTP surface: fastify with its checks in the order PROTOCOL, Errors gives them. */
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import fastifySwagger from '@fastify/swagger'
import { jsonSchemaTransform, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { Registry } from 'prom-client'
import { LIMITS } from '@wheelhouse/client/protocol'
import type { Caller } from '../host/host-api.ts'
import { HostError } from '../host/host-api.ts'
import type { Host } from '../host/host.ts'
import { VERSION } from '../version.ts'
import { Gate, type RequestFacts } from './auth.ts'
import { collectMetrics } from './metrics.ts'
import { codeOf, problemOf, RETRY_AFTER_S } from './problem.ts'
import { resourceRoutes } from './routes/resources.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { hostRoutes } from './routes/host.ts'
import { serveWeb } from './static.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set before any route runs. */
    caller: Caller
  }
}

/** Where a server listens; loopback addresses only. `webDir` holds the built web app; without it the API alone is served. */
export type ServerOptions = {
  host: Host
  port: number
  address: string
  webDir: string
  /** Names beside the loopback ones that Host may say. */ names?: readonly string[]
}
/** A server that listens. `gate` makes one-time links; `close` ends every line. */
export type Server = { url: string; port: number; gate: Gate; close(): Promise<void> }
export type App = FastifyInstance

/** Of a body that is too large, this much is read for the sake of an answer; a larger one loses its line. */
const DRAINED_BYTES = 16 * LIMITS.requestBodyBytes
/** Routes that need no credential; the page of the web app, which is no route, is the rest. */
const OPEN_ROUTES = new Set(['/healthz', '/v1/login', '/assets/*'])

/** Listens, and answers from then on. Rejects when the port is taken; refuses other addresses than loopback. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { host, address } = options
  if (!isLoopback(address))
    throw new Error(`Refusing to listen on ${address}: only loopback addresses are served without a credential of their own.`)
  const app = fastify({
    bodyLimit: LIMITS.requestBodyBytes,
    logger: false,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 200 },
    // An address no router can read runs no hook: its checks are here.
    frameworkErrors(error, request, reply) {
      const { code, detail } = codeOf(refusalOf(request, checked) ?? error)
      sendProblem(reply.headers(HEADERS), code, detail)
    },
    clientErrorHandler: refuseLine,
  }).withTypeProvider<ZodTypeProvider>()
  // Bodies are JSON; a form or text of another page is not looked at.
  app.removeContentTypeParser('text/plain')
  // Many clients send the media type with every request, also where there is no body.
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) =>
    body === '' ? done(null) : parse(request, body, done),
  )
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  const streams = new Set<() => void>()
  let gate: Gate | null = null
  const checked = (): Gate => {
    if (gate === null) throw new HostError('SHUTTING_DOWN')
    return gate
  }
  guard(app, host, checked)
  await app.register(fastifySwagger, { openapi: { info: { title: 'Wheelhouse', version: VERSION } }, transform: jsonSchemaTransform })
  const registry = new Registry()
  collectMetrics(registry, host)
  await app.register((scope) => {
    hostRoutes(scope, { host, gate: checked, registry, openapi: () => app.swagger(), url: () => url })
    resourceRoutes(scope, host)
    sessionRoutes(scope, host, streams)
  })
  await serveWeb(app, options.webDir)
  const url = await app.listen({ port: options.port, host: address })
  const { port } = new URL(url)
  const names = [new URL(url).hostname, '127.0.0.1', 'localhost', '[::1]', ...(options.names ?? [])].map((name) => `${name}:${port}`)
  gate = new Gate({
    token: host.dataDir.token,
    port: Number(port),
    names,
    loginsFile: `${host.dataDir.path}/logins.json`,
    now: () => Date.now(),
  })
  return {
    url,
    port: Number(port),
    gate,
    async close() {
      for (const end of streams) end()
      await app.close()
    },
  }
}

/** What is no HTTP request never becomes one; it is answered as everything else, and its line ends. */
function refuseLine(error: Error & { code?: string }, socket: Socket): void {
  const isLarge = error.code === 'HPE_HEADER_OVERFLOW'
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const body = JSON.stringify(
    problemOf('INVALID_REQUEST', isLarge ? 'The headers are too large.' : 'This is no HTTP request that can be read.'),
  )
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}

/** On every answer, problems too (PROTOCOL, sections 3 and 8). */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' }

const isLoopback = (address: string): boolean => address === '::1' || address === 'localhost' || /^127\.\d+\.\d+\.\d+$/.test(address)

/** Host and Origin, then the credential, before any route and also where there is none. */
function guard(app: App, host: Host, gate: () => Gate): void {
  app.decorateRequest('caller', null as unknown as Caller)
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(HEADERS)
    const facts = factsOf(request)
    gate().checkPlace(facts)
    if (needsCredential(request)) request.caller = gate().identify(facts)
    const length = Number(request.headers['content-length'] ?? 0)
    if (length <= LIMITS.requestBodyBytes || length > DRAINED_BYTES) return done()
    // Read to its end before it is refused: a client that is still sending sees a broken line instead of the answer.
    request.raw.resume()
    request.raw.once('end', () => done(new HostError('BODY_TOO_LARGE', `The body has ${length} bytes.`)))
  })
  app.setErrorHandler((error, request, reply) => {
    const { code, detail } = codeOf(error)
    if (code === 'INTERNAL_ERROR')
      host.log.error(
        { error: error instanceof Error ? error.stack : String(error), method: request.method, route: request.routeOptions.url ?? null },
        'request failed',
      )
    return sendProblem(reply, code, detail)
  })
}

/** Host, Origin and credential of a request that reached no route. */
function refusalOf(request: FastifyRequest, gate: () => Gate): unknown {
  try {
    gate().checkPlace(factsOf(request))
    gate().identify(factsOf(request))
    return null
  } catch (error) {
    return error
  }
}

/**
 * The page and its files are for everybody; they hold no secret. What counts is the route that was
 * found: the router reads an address in more spellings than one (escapes, a whole URL), so its text
 * proves nothing.
 */
function needsCredential(request: FastifyRequest): boolean {
  const route = request.routeOptions.url
  if (route !== undefined) return !OPEN_ROUTES.has(route)
  return !isPage(request)
}

/** No route: GET answers the page, but where only a program would look. */
export function isPage({ method, url }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && !/^\/(?:v1|api|gateway|assets)(?:[/?]|$)/.test(url)
}

export function factsOf(request: FastifyRequest): RequestFacts {
  const { host, origin, authorization, cookie } = request.headers
  return { method: request.method, host, origin, authorization, cookie }
}

export function sendProblem(reply: FastifyReply, code: Parameters<typeof problemOf>[0], detail: string): FastifyReply {
  const problem = problemOf(code, detail)
  if (problem.status === 503) void reply.header('retry-after', String(RETRY_AFTER_S))
  return reply.code(problem.status).type('application/problem+json').send(JSON.stringify(problem))
}
