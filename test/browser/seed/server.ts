/**
 * Serves the built web app and answers its routes from a seeded world, so that states can be looked
 * at that are hard to bring about. It is no host: nothing runs, and writes are kept in memory.
 */
import { createReadStream, existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ErrorCode, StreamEvent, UIMessageChunk } from '../../../packages/client/src/index.ts'
import { driver, NOW } from './make.ts'
import type { Seeded } from './seeded.ts'
import type { World } from './world.ts'

const DIST = fileURLToPath(new URL('../../../packages/runtime/dist/web', import.meta.url))
const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
}
const POLICY =
  "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"

export type SeedOptions = {
  world: World
  /** Every call is refused as not signed in. */
  loggedOut?: boolean
  /** Milliseconds before each answer. */
  delayMs?: number
  /** Milliseconds between the chunks of a pending row; without it they come at once. */
  chunkMs?: number
  /** Why writes are refused. */
  refusal?: ErrorCode
}

export type SeedServer = { url: string; server: Server; close: () => void; cutStreams: () => void; push: (event: StreamEvent) => void }

export async function startSeed(options: SeedOptions): Promise<SeedServer> {
  const streams = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    setTimeout(() => answer(options, streams, request, response), options.delayMs ?? 0)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${String(port)}`,
    server,
    cutStreams: () => streams.forEach((each) => each.destroy()),
    push: (event) => streams.forEach((each) => write(each, event)),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function answer(options: SeedOptions, streams: Set<ServerResponse>, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://x')
  if (!url.pathname.startsWith('/v1/')) return file(url.pathname, response)
  if (options.loggedOut === true) return problem(response, 401, 'UNAUTHENTICATED')
  const { world } = options
  const [, , kind = '', id = '', rest = ''] = url.pathname.split('/')
  if (kind === 'stream') return stream(options, streams, url, response)
  if (request.method !== 'GET') return problem(response, options.refusal === undefined ? 503 : 409, options.refusal ?? 'HELD')
  if (kind === 'info')
    return json(response, {
      name: 'wheelhouse',
      version: '0.1.0',
      protocol: 1,
      dataDir: '/home/me/.local/share/wheelhouse',
      startedAt: new Date(NOW).toISOString(),
      limits: {},
      drivers: [driver, { ...driver, type: 'pi', name: 'Pi', installed: false, version: null, advice: 'npm install -g pi' }],
    })
  if (kind === 'agents') return json(response, { items: world.agents, nextCursor: null })
  if (kind === 'providers') return json(response, { items: world.providers, nextCursor: null })
  if (kind === 'approvals') return json(response, { items: world.approvals, nextCursor: null })
  const seeded = world.sessions.find((each) => each.session.id === id)
  if (seeded === undefined) return problem(response, 404, 'SESSION_NOT_FOUND')
  if (rest === 'messages') return json(response, page(seeded, Number(url.searchParams.get('limit') ?? 50), url.searchParams.get('before')))
  return json(response, snapshotOf(seeded))
}

function page(seeded: Seeded, limit: number, before: string | null): unknown {
  const rows = seeded.rows.filter((row) => before === null || (row.seq ?? 0) < Number(before))
  const items = rows.slice(-limit)
  return { items, before: items.length < rows.length ? String(items[0]?.seq) : null, cursor: '1.1.0' }
}

const snapshotOf = (seeded: Seeded) => ({ ...seeded.snapshot, session: seeded.session, status: seeded.session.status, cursor: '1.1.0' })

function stream(options: SeedOptions, streams: Set<ServerResponse>, url: URL, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  streams.add(response)
  response.on('close', () => streams.delete(response))
  write(response, { type: 'sessions', sessions: options.world.sessions.map((each) => each.session) })
  for (const sessionId of url.searchParams.getAll('session')) {
    const seeded = options.world.sessions.find((each) => each.session.id === sessionId)
    if (seeded === undefined) continue
    write(response, { type: 'snapshot', sessionId, cursor: '1.1.0', snapshot: snapshotOf(seeded) })
    for (const [messageId, chunks] of Object.entries(seeded.chunks)) replay(response, sessionId, messageId, chunks, options.chunkMs)
  }
}

function replay(
  response: ServerResponse,
  sessionId: string,
  messageId: string,
  chunks: UIMessageChunk[],
  chunkMs: number | undefined,
): void {
  const event = (n: number, part: UIMessageChunk[]): StreamEvent => ({
    type: 'chunk',
    sessionId,
    cursor: `1.1.${String(n + part.length - 1)}`,
    messageId,
    n,
    chunks: part,
  })
  if (chunkMs === undefined) return write(response, event(1, chunks))
  chunks.forEach((chunk, index) => setTimeout(() => write(response, event(index + 1, [chunk])), index * chunkMs))
}

function write(response: ServerResponse, event: StreamEvent): void {
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}

function problem(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/problem+json' })
  response.end(
    JSON.stringify({ type: `urn:wheelhouse:error:${code}`, title: code, status, code, detail: 'This is a seeded page.', retryable: false }),
  )
}

function file(path: string, response: ServerResponse): void {
  const wanted = join(DIST, normalize(path))
  const name = extname(path) !== '' && existsSync(wanted) ? wanted : join(DIST, 'index.html')
  response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream', 'content-security-policy': POLICY })
  createReadStream(name).pipe(response)
}
