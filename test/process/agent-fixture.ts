/**
 * Stands where an agent would: it starts a tool shell that starts a server and a sleeper behind its
 * back, says their pids and the port on its first line, and does not care when its stdin closes.
 * With the argument `stubborn` it ignores SIGTERM; with `loner` its tools leave its process group.
 */
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'

const [mode] = process.argv.slice(2)
if (mode === 'tool-server') {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.stdout.write(`${JSON.stringify({ server: process.pid, port: typeof address === 'object' ? address?.port : null })}\n`)
  })
} else {
  if (mode === 'stubborn') process.on('SIGTERM', () => undefined)
  const shell = `sleep 300 & echo "{\\"sleeper\\":$!}"; '${process.execPath}' '${process.argv[1]}' tool-server & wait`
  const tool = spawn('sh', ['-c', shell], { stdio: ['ignore', 'pipe', 'inherit'], detached: mode === 'loner' })
  const said: object[] = [{ agent: process.pid, shell: tool.pid }]
  let text = ''
  tool.stdout.on('data', (piece) => {
    text += String(piece)
    const lines = text.split('\n')
    if (lines.length < 3) return
    tool.stdout.removeAllListeners('data')
    for (const line of lines.slice(0, 2)) said.push(JSON.parse(line))
    process.stdout.write(`${JSON.stringify(Object.assign({}, ...said))}\n`)
  })
  setInterval(() => undefined, 60_000)
}
