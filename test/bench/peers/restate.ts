import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { startChild } from '../../../cli/start/children.ts'
import { untilOk, type System, type SystemOptions } from '../system.ts'
import { echoChats } from './requests.ts'

/**
 * Starts Restate as its documentation does on one machine: the server with its defaults, which write to the disk
 * before they answer, and a process of Node with the handlers.
 *
 * @param packages the folder of the fetched packages
 */
export async function startRestate(packages: string, { conversations, parts }: SystemOptions): Promise<System> {
  const directory = await mkdtemp(join(tmpdir(), 'isobot-bench-restate-'))
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const [ingress, admin, node, service] = [await freePort(), await freePort(), await freePort(), await freePort()]
  const program = join(packages, `@restatedev/restate-server-${process.platform}-${process.arch}`, 'bin/restate-server')
  const server = await startChild('Restate', [program, '--no-logo'], {
    directory,
    environment: {
      ...process.env,
      RESTATE_BASE_DIR: directory,
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_IP: '127.0.0.1',
      RESTATE_BIND_PORT: String(node),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_LOG_FILTER: 'error',
      RESTATE_DISABLE_TELEMETRY: 'true',
      DO_NOT_TRACK: '1',
    },
  })
  parts.defer(async () => void (await server.stop()))
  const handlers = await startChild(
    'the handlers of Restate',
    [process.execPath, join(import.meta.dirname, 'restate-handlers.ts')],
    { environment: { ...process.env, PACKAGES: packages, PORT: String(service), RESTATE_LOGGING: 'ERROR' } },
  )
  parts.defer(async () => void (await handlers.stop()))

  await untilOk(`http://127.0.0.1:${admin}/health`)
  await untilOk(`http://127.0.0.1:${ingress}/restate/health`)
  await register(`http://127.0.0.1:${admin}/deployments`, `http://127.0.0.1:${service}`)
  return {
    chatUrl: `http://127.0.0.1:${ingress}`,
    chats: echoChats(conversations),
    repliesIn: 'response',
    processes: { api: server.pid, worker: handlers.pid },
  }
}

/** Registers the handlers, as soon as their process listens. */
async function register(deploymentsUrl: string, uri: string): Promise<void> {
  const deadline = Date.now() + 30_000
  for (;;) {
    const response = await fetch(deploymentsUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri }),
    })
    if (response.ok) return
    if (Date.now() > deadline) throw new Error(`Restate did not register the handlers: ${await response.text()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
