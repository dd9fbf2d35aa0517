/** The web app's files (PROTOCOL, section 8). */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import { isPage, sendProblem, type App } from './http.ts'

const POLICY =
  "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"
const NOT_BUILT = '<!doctype html><title>Wheelhouse</title><p>The web app is not built. Run <code>npm run build</code> and start again.'

/** GET of any path that is no route answers the page; everything else is a 404. */
export async function serveWeb(app: App, webDir: string): Promise<void> {
  const built = existsSync(join(webDir, 'index.html'))
  const page = built ? readFileSync(join(webDir, 'index.html'), 'utf8') : NOT_BUILT
  if (existsSync(join(webDir, 'assets')))
    await app.register(fastifyStatic, {
      root: join(webDir, 'assets'),
      prefix: '/assets/',
      wildcard: true,
      immutable: true,
      maxAge: '365d',
      cacheControl: true,
      index: false,
    })
  app.setNotFoundHandler((request, reply) => {
    if (!isPage(request)) return sendProblem(reply, 'NOT_FOUND', `${request.method} ${request.url.split('?', 1)[0] ?? ''}`)
    return reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY).send(page)
  })
}
