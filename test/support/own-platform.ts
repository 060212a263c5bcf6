import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { SavedCredentials } from '../../cli/start/credentials.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import { startChild } from '../../cli/start/children.ts'

const root = join(import.meta.dirname, '..', '..')

/** A platform that `npm start` runs. */
export interface OwnPlatform {
  url: string
  token: string
  workspaceId: string
  /** The example bot. */
  botId: string
  /** Ends all its processes, and starts them again. */
  restart(): Promise<void>
}

/**
 * Runs a platform of its own as `npm start` does, for a program; its bots may ask this machine.
 *
 * @param directory for its data
 * @param parts stops it
 * @param further variables of its environment
 */
export async function openOwnPlatform(
  directory: string,
  parts: AsyncDisposableStack,
  further: NodeJS.ProcessEnv = {},
): Promise<OwnPlatform> {
  const port = await freePort()
  const environment = {
    ...process.env,
    ISOBOT_DATA_DIR: directory,
    PORT: String(port),
    HOST: '127.0.0.1',
    OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
    ...further,
  }
  const start = () =>
    startChild('start', [process.execPath, join(root, 'cli', 'npm-start.js')], { directory: root, environment })
  let child = await start()
  let hasEnded = false
  void child.exited.then(() => (hasEnded = true))
  parts.defer(async () => void (await child.stop()))
  const url = `http://localhost:${port}`
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  async function restart(): Promise<void> {
    await child.stop()
    child = await start()
    while (!(await isReady())) await delay(200)
  }
  const credentials = join(directory, 'credentials.json')
  for (;;) {
    const text = await readFile(credentials, 'utf8').catch(() => '{}')
    const { token, botId, workspaceId } = JSON.parse(text) as Partial<SavedCredentials>
    if (token && botId && workspaceId) return { url, token, workspaceId, botId, restart }
    if (hasEnded) throw new Error('The platform ended before it was ready; its output says why')
    await delay(200)
  }
}
