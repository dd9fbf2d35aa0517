/** A real HTTP server on loopback for the SDK's tests: one handler, ended with its test. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** Starts it; returns its base url. All connections are cut when the test ends. */
export async function serve(t: TestContext, handler: Handler): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => (body += piece))
    request.on('end', () => handler(request, response, body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
}

export function problem(
  response: ServerResponse,
  status: number,
  code: string,
  retryable: boolean,
  headers: { [name: string]: string } = {},
): void {
  response.writeHead(status, { 'content-type': 'application/problem+json', ...headers })
  response.end(JSON.stringify({ type: `urn:wheelhouse:error:${code}`, title: code, status, code, detail: 'd', retryable }))
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
