import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { OutboundError } from '../../../worker/outbound/errors.ts'
import { askNameServers } from '../../../worker/outbound/resolver.ts'
import { startNameServer } from './name-server.ts'
import { openGuard } from './fixture.ts'
import { addressesThatAreNotPublic } from './vectors.ts'

/**
 * A program for a network namespace of its own (`unshare --map-root-user --net`), in which every address of the world is
 * this machine: whatever the guard lets through arrives here. It has the guard request addresses and names, and prints a
 * `Report`.
 */

export interface Report {
  /** The outcome of each request: `reached`, or the reason why it failed. */
  outcomes: Record<string, string>
  /** Where connections arrived, as `address:port`. */
  arrived: string[]
}

const run = promisify(execFile)
await run('ip', ['link', 'set', 'lo', 'up'])
await run('ip', ['route', 'add', 'local', '0.0.0.0/0', 'dev', 'lo'])
await run('ip', ['-6', 'route', 'add', 'local', '::/0', 'dev', 'lo'])

await using parts = new AsyncDisposableStack()
const arrived: string[] = []
for (const port of [25, 80, 8443]) await listen(port)

async function listen(port: number): Promise<void> {
  const server = createServer((request, response) => {
    response.setHeader('connection', 'close')
    const to = new URL(request.url ?? '', 'http://here').searchParams.get('to')
    if (to === null) response.end()
    else response.writeHead(302, { location: to }).end()
  })
  server.on('connection', ({ localAddress = '' }) => {
    arrived.push(`${localAddress.replace('::ffff:', '')}:${port}`)
  })
  server.listen(port, '::')
  await once(server, 'listening')
  parts.defer(async () => {
    server.close()
    await once(server, 'close')
  })
}

const nameServer = parts.use(
  await startNameServer({
    'public.test': () => ['93.184.215.14'],
    'public-6.test': () => ['2606:2800:21f::1'],
    'rebinding.test': (times) => [times === 0 ? '93.184.215.15' : '10.0.0.1'],
    'rebinding-6.test': (times) => [times === 0 ? '2606:2800:21f::2' : 'fd00::1'],
  }),
)
const guard = parts.use(openGuard([], { resolve: askNameServers([nameServer.address]) }))

const outcomes: Report['outcomes'] = {}

async function ask(what: string, url: string, allow = ['*', '*:25', '*:8443']): Promise<void> {
  try {
    await guard.ask(url, { allow, timeoutMilliseconds: 5000 })
    outcomes[what] = 'reached'
  } catch (error) {
    outcomes[what] = error instanceof OutboundError ? error.reason : String(error)
  }
}

await ask('an address', 'http://1.1.1.1/')
await ask('an address in IPv6', 'http://[2606:4700::1111]/')
await ask('a name', 'http://public.test/')
await ask('a name in IPv6', 'http://public-6.test/')
await ask('a redirect', 'http://1.1.1.2/?to=http://8.8.8.8/')
await ask('a port that is named', 'http://1.1.1.3:8443/')
await ask('a port that is not named', 'http://1.1.1.4:8443/', ['*'])
await ask('a port of mail', 'http://1.1.1.5:25/')
await ask('a redirect to a private address', 'http://1.1.1.6/?to=http://10.0.0.1/')
await ask('a name at first', 'http://rebinding.test/')
await ask('a name that moved', 'http://rebinding.test/')
await ask('a name in IPv6 at first', 'http://rebinding-6.test/')
await ask('a name in IPv6 that moved', 'http://rebinding-6.test/')
for (const [, address] of addressesThatAreNotPublic) {
  const host = address.includes(':') ? `[${address}]` : address
  await ask(address, `http://${host}/`)
  await ask(`${address} at another port`, `http://${host}:8443/`)
}
const report: Report = { outcomes, arrived }
process.stdout.write(JSON.stringify(report))
