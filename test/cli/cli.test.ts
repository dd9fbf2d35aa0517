/** The command line as a person uses it, against a host that `serve` started. */
import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { cut, safe, table } from '../../packages/runtime/src/cli/output.ts'
import { makeTempDir, until } from '../support/daemon.ts'

const BIN = fileURLToPath(new URL('../../packages/runtime/bin/wheelhouse.js', import.meta.url))
const dir = makeTempDir('cli')
let serve: ChildProcess

type Ran = { code: number | null; out: string; err: string }

function wheelhouse(args: readonly string[], options: { input?: string; dataDir?: string } = {}): Ran {
  const result = spawnSync(process.execPath, [BIN, ...args, '--data-dir', options.dataDir ?? dir.path], {
    encoding: 'utf8',
    timeout: 60_000,
    ...(options.input === undefined ? {} : { input: options.input }),
  })
  return { code: result.status, out: result.stdout, err: result.stderr }
}

before(async () => {
  serve = spawn(process.execPath, [BIN, 'serve', '--json', '--port', '0', '--log-level', 'error', '--data-dir', dir.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  assert.ok(serve.stdout)
  const [line] = (await once(createInterface({ input: serve.stdout }), 'line')) as [string]
  assert.deepEqual(Object.keys(JSON.parse(line) as object), ['url', 'tokenFile'])
})

after(async () => {
  serve.kill('SIGTERM')
  const [code] = (await once(serve, 'exit')) as [number]
  assert.equal(code, 0)
  dir.remove()
})

test('a first session with the practice agent: made, answered as it streams, listed, stopped', { timeout: 120_000 }, () => {
  const made = wheelhouse(['session', 'new', '--name', 'first'])
  assert.equal(made.code, 0, made.err)
  assert.match(made.out, /^Session \S+ with Practice agent in /)
  const sent = wheelhouse(['send', 'last', 'hello there', '--follow'])
  assert.equal(sent.code, 0, sent.err)
  assert.match(sent.out, /practice model/)
  assert.match(sent.out, /\[Bash\]/)
  assert.match(wheelhouse(['session', 'list']).out, /first/)
  const listed = JSON.parse(wheelhouse(['session', 'list', '--json']).out) as { items: { name: string; status: string }[] }
  assert.deepEqual(
    listed.items.map(({ name, status }) => [name, status]),
    [['first', 'idle']],
  )
  assert.equal(wheelhouse(['stop', 'first']).out, 'Nothing runs.\n')
})

test('attach tells what was said, a line for each tool call, and what waits for a yes', { timeout: 120_000 }, async () => {
  assert.equal(wheelhouse(['send', 'first', 'write a note']).code, 0)
  const waits = (): boolean => wheelhouse(['session', 'list']).out.includes('waiting')
  await until('the agent waits for a yes', waits)
  const attach = spawn(process.execPath, [BIN, 'attach', 'first', '--data-dir', dir.path], { stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  attach.stdout.on('data', (data: Buffer) => {
    out += data.toString()
  })
  await until('the card is told', () => out.includes('[waits for a yes] Write'))
  assert.match(out, /^> hello there$/m)
  assert.match(out, /^\[Bash\] \{"command"/m)
  assert.match(out, /^> write a note$/m)
  assert.ok(!out.includes('\n\n>'), 'no row begins with an empty line')
  assert.equal(wheelhouse(['stop', 'first']).out, 'Stopping.\n')
  await until('the end is told', () => out.includes('[stopped]'))
  assert.equal(wheelhouse(['send', 'first', 'hello again', '--follow']).code, 0)
  await until('what another window says is told', () => out.includes('> hello again'))
  assert.equal(out.split('[waits for a yes]').length, 2, 'once')
  attach.kill('SIGINT')
  await once(attach, 'exit')
})

test('BUG-40 tables and cut texts keep characters whole, columns straight and terminals unharmed', () => {
  assert.equal(cut('a 😀\n\t👨‍👩‍👧 b', 4), 'a 😀…')
  assert.equal(cut('a 😀 👨‍👩‍👧', 5), 'a 😀 👨‍👩‍👧')
  assert.equal(
    table([
      ['外注', 'x'],
      ['ab', 'x'],
      ['👨‍👩‍👧', 'x'],
    ]),
    '外注  x\nab    x\n👨‍👩‍👧    x',
  )
  assert.equal(safe('\u001b[31mred\u0007\n\tend'), '[31mred\n\tend')
})

test('a turn that fails tells why and exits with its own code', { timeout: 120_000 }, () => {
  const sent = wheelhouse(['send', 'last', '#practice: fault status=400 message="not today" times=always', '--follow'])
  assert.equal(sent.code, 4, sent.out + sent.err)
  assert.match(sent.out, /\[error PROVIDER_ERROR\].*not today/)
})

test('providers and agents: a key is read from standard input and shown nowhere', () => {
  const added = wheelhouse(['provider', 'add', 'mine', '--base-url', 'http://127.0.0.1:9', '--model', 'm'], { input: 'sk-cli-canary\n' })
  assert.equal(added.code, 0, added.err)
  assert.equal(wheelhouse(['agent', 'add', 'helper', '--provider', 'mine', '--model', 'm']).code, 0)
  const shown = [
    wheelhouse(['provider', 'list']).out,
    wheelhouse(['provider', 'list', '--json']).out,
    wheelhouse(['agent', 'list']).out,
  ].join()
  assert.ok(shown.includes('mine') && shown.includes('helper') && !shown.includes('sk-cli-canary'))
  const tested = wheelhouse(['provider', 'test', 'mine'])
  assert.equal(tested.code, 1)
  assert.match(tested.out, /cannot be reached/)
  const inUse = wheelhouse(['provider', 'remove', 'mine'])
  assert.equal(inUse.code, 1)
  assert.match(inUse.err, /Something else still uses it/)
  assert.equal(wheelhouse(['agent', 'remove', 'helper']).code, 0)
  assert.equal(wheelhouse(['provider', 'remove', 'mine']).code, 0)
})

test('what is wrong is said in words, with a code', () => {
  assert.deepEqual(
    [wheelhouse(['stop', 'nothing-of-this-name']).code, wheelhouse(['no-such-command']).code, wheelhouse(['--version']).code],
    [1, 2, 0],
  )
  assert.match(wheelhouse(['stop', 'nothing-of-this-name']).err, /`wheelhouse session list` shows which there are/)
  for (const wrong of [
    ['stop', 'last', '--queue', 'burn'],
    ['attach', 'last', '--last', 'many'],
    ['serve', '--log-level', 'loud'],
  ])
    assert.equal(wheelhouse(wrong).code, 2, wrong.join(' '))
  assert.match(
    wheelhouse(['session', 'new', '--workspace', '/no/such/folder']).err,
    /^The workspace folder is missing: \/no\/such\/folder\. Put a folder there, or choose another one\./,
  )
  const nobody = makeTempDir('nobody')
  const lonely = wheelhouse(['session', 'list', '--url', 'http://127.0.0.1:9'], { dataDir: nobody.path })
  assert.equal(lonely.code, 3)
  assert.match(lonely.err, /^No host answers at http:\/\/127\.0\.0\.1:9\. Start one with `wheelhouse serve`\.$/m)
  assert.equal(
    wheelhouse(['session', 'list', '--url', 'http://127.0.0.1:9', '--json'], { dataDir: nobody.path })
      .err.trim()
      .startsWith('{"code":"UNREACHABLE"'),
    true,
  )
  nobody.remove()
})

test('doctor looks at everything', () => {
  const { code, out } = wheelhouse(['doctor'])
  assert.equal(code, 0, out)
  for (const check of ['node', 'data directory', 'token', 'keys.json', 'claude-code', 'host', 'sessions'])
    assert.match(out, new RegExp(`^ok    ${check}: `, 'm'))
})

test('BUG-54 the token file is for this user alone, and other addresses than loopback are refused', () => {
  for (const name of ['token', 'keys.json', 'wheelhouse.db', 'server.json'])
    assert.equal(statSync(join(dir.path, name)).mode & 0o077, 0, name)
  const other = makeTempDir('open')
  const refused = wheelhouse(['serve', '--host', '0.0.0.0', '--port', '0', '--no-practice'], { dataDir: other.path })
  assert.equal(refused.code, 1)
  assert.match(refused.err, /loopback/)
  assert.ok(!existsSync(join(other.path, 'host.pid')), 'the data directory is free again')
  other.remove()
})

test('BUG-21 a second serve is refused with the pid of the first', () => {
  const second = wheelhouse(['serve', '--port', '0', '--no-practice'])
  assert.equal(second.code, 1)
  assert.match(second.err, new RegExp(`pid ${serve.pid}`))
})

test('an older Node is told in one line', () => {
  const fake = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.11.0"})'
  const result = spawnSync(process.execPath, ['--import', fake, BIN, 'serve'], { encoding: 'utf8' })
  assert.equal(result.status, 1)
  assert.equal(result.stderr, 'wheelhouse needs Node 24 or newer; this is 20.11.0. In the repository, `npm start` brings its own.\n')
})

test('a port that is none, or that is taken, is told in words', () => {
  const other = makeTempDir('cli-port')
  const none = wheelhouse(['serve', '--port', 'abc'], { dataDir: other.path })
  assert.match(none.err, /number from 0 to 65535/)
  assert.notEqual(none.code, 0)
  const { url } = JSON.parse(readFileSync(join(dir.path, 'server.json'), 'utf8')) as { url: string }
  const { port } = new URL(url)
  const taken = wheelhouse(['serve', '--port', port, '--log-level', 'silent'], { dataDir: other.path })
  assert.match(taken.err, new RegExp(`Port ${port} is taken`))
  assert.notEqual(taken.code, 0)
  other.remove()
})
