/** What no host can beat: a bare node:http server that appends a message to a file, syncs it, answers, and sends one event. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import { slowDisk } from './slow-disk.ts'

const [file = '', fsyncMs = '0'] = process.argv.slice(2)
const wait = slowDisk(Number(fsyncMs))
const log = openSync(file, 'a')
const readers = new Set<ServerResponse>()

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' })
    response.flushHeaders()
    readers.add(response)
    response.on('close', () => readers.delete(response))
    return
  }
  let body = ''
  request.on('data', (data: Buffer) => (body += data.toString()))
  request.on('end', () => {
    writeSync(log, `${body}\n`)
    fsyncSync(log)
    wait()
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"messageId":"x"}')
    for (const reader of readers)
      reader.write('event: chunk\ndata: {"type":"chunk"}\n\nevent: turn\ndata: {"type":"turn","phase":"ended"}\n\n')
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, token: '' })}\n`)
})
createInterface({ input: process.stdin }).on('line', () => {
  const { user, system } = process.cpuUsage()
  process.stdout.write(
    `${JSON.stringify({ commits: 0, appends: 0, cpuUs: user + system, systemUs: system, rss: process.memoryUsage().rss })}\n`,
  )
})
process.on('SIGTERM', () => {
  closeSync(log)
  process.exit(0)
})
