import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { findAddon } from '#sandbox/isolation/addon.ts'
import { openProbeSockets } from '#sandbox/isolation/probe-sockets.ts'
import { startNameServer } from '../../worker/outbound/name-server.ts'

const secret = 'what only the worker should know'

/** The targets of a sandbox process whose inner layer has fallen. */
export interface AttackTargets extends AsyncDisposable {
  /** Its attacks by their names: each an expression that is well when it got what it wanted, and throws otherwise. */
  attacks: Record<string, string>
}

/** A process that stands for the worker, its files, and servers of this machine, the databases of the tests among them. */
export async function openAttackTargets(): Promise<AttackTargets> {
  const parts = new AsyncDisposableStack()
  const worker = spawn('sleep', ['600'], { env: { DATABASE_PASSWORD: secret }, stdio: 'ignore' })
  parts.defer(async () => {
    const closed = once(worker, 'close')
    worker.kill('SIGKILL')
    await closed
  })
  await once(worker, 'spawn')

  const folder = await mkdtemp(join(tmpdir(), 'isobot-targets-'))
  parts.defer(() => rm(folder, { recursive: true }))
  await chmod(folder, 0o777)
  const file = (name: string) => join(folder, name)
  await writeFile(file('public.js'), `module.exports = '${secret}'`)
  await writeFile(file('private.js'), `module.exports = '${secret}'`, { mode: 0o600 })
  await copyFile(findAddon(), file('addon.node'))

  const { tcp, abstract, byPath } = parts.use(await openProbeSockets())
  const names = parts.use(await startNameServer({ 'database.example': () => ['10.0.0.1'] }))
  const echo = createSocket('udp4', (message, { port, address }) => echo.send(message, port, address))
  parts.defer(async () => {
    const closed = once(echo, 'close')
    echo.close()
    await closed
  })
  echo.bind(0, '127.0.0.1')
  await once(echo, 'listening')

  return {
    attacks: attacksOn({
      worker: worker.pid!,
      folder,
      tcp,
      abstract,
      byPath,
      names: names.address,
      udp: echo.address(),
    }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

interface Targets {
  worker: number
  folder: string
  tcp: object
  abstract: object
  byPath: object
  names: string
  udp: { address: string; port: number }
}

function attacksOn({ worker, folder, tcp, abstract, byPath, names, udp }: Targets): Record<string, string> {
  const path = (name: string) => JSON.stringify(join(folder, name))
  return {
    'reads a file that everybody may read': holds(`fs.readFileSync(${path('public.js')})`),
    'reads a file of the worker': holds(`fs.readFileSync(${path('private.js')})`),
    'climbs to a file': holds(`fs.readFileSync('/proc/self/cwd/../../../../../..' + ${path('public.js')})`),
    'reads its own package': `fs.readFileSync(${JSON.stringify(join(import.meta.dirname, '..', '..', '..', 'package.json'))})`,
    'loads a module': holds(`require(${path('public.js')})`),
    'loads an addon': `process.dlopen({ exports: {} }, ${path('addon.node')})`,
    'makes a file': `fs.closeSync(fs.openSync(${path('made')}, 'w')), fs.unlinkSync(${path('made')})`,
    'starts a program': `demand(spawnSync('/bin/sh', ['-c', 'exit 0']).status === 0)`,

    'sees the environment of the worker': holds(`fs.readFileSync('/proc/${worker}/environ')`),
    'opens the memory of the worker': `fs.closeSync(fs.openSync('/proc/${worker}/mem', 'r+'))`,
    'sees the environment of the first process': `demand(!fs.readFileSync('/proc/1/environ').equals(fs.readFileSync('/proc/self/environ')))`,
    'signals the worker': `process.kill(${worker}, 0)`,
    'slows the worker down': `os.setPriority(${worker}, 1)`,
    'becomes root': `process.setuid(0)`,
    'joins another group': `process.setgroups([12])`,

    'connects over TCP': reach(tcp),
    'connects to PostgreSQL': reach(server(inject('databaseUrl'))),
    'connects to Redis': reach(server(inject('redisUrl'))),
    'connects to an abstract socket': reach(abstract),
    'connects to a socket by its path': reach(byPath),
    'sends a datagram': `new Promise((answered, fail) => {
      const socket = dgram.createSocket('udp4').on('message', answered).on('error', fail)
      socket.send('?', ${udp.port}, '${udp.address}', (error) => error && fail(error))
    })`,
    'asks a name server': `(() => {
      const resolver = new dns.promises.Resolver({ timeout: 2000, tries: 1 })
      resolver.setServers(['${names}'])
      return resolver.resolve4('database.example').then(([address]) => demand(address === '10.0.0.1'))
    })()`,
  }
}

/** A program for `explore` that tries all of these attacks. */
export function attackersProgram(attacks: Record<string, string>): string {
  return `
    const [fs, os, net, dgram, dns] = ['fs', 'os', 'net', 'dgram', 'dns'].map((name) => require('node:' + name))
    const { spawnSync } = require('node:child_process')
    const demand = (truth) => { if (!truth) throw Object.assign(new Error(), { code: 'IN_VAIN' }) }
    ${Object.entries(attacks)
      .map(([name, attack]) => `attempt(${JSON.stringify(name)}, async () => { await (${attack}); return true })`)
      .join('\n')}`
}

function server(url: string): object {
  return { host: new URL(url).hostname, port: Number(new URL(url).port) }
}

function reach(target: object): string {
  return `new Promise((reached, fail) => net.connect(${JSON.stringify(target)}).on('connect', reached).on('error', fail))`
}

function holds(expression: string): string {
  return `demand(String(${expression}).includes(${JSON.stringify(secret)}))`
}
