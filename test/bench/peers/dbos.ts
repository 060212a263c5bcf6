import { join } from 'node:path'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { startChild } from '../../../cli/start/children.ts'
import { poolSize, untilReady, type System, type SystemOptions } from '../system.ts'
import { echoChats } from './requests.ts'

/**
 * Starts DBOS in one process, as its documentation does: it accepts messages over HTTP and runs their workflows, on
 * the PostgreSQL of the other sides.
 *
 * @param packages the folder of the fetched packages
 */
export async function startDbos(packages: string, { conversations, servers, parts }: SystemOptions): Promise<System> {
  const databaseUrl = await servers.postgres.createDatabase('dbos')
  const port = await freePort()
  const child = await startChild('DBOS', [process.execPath, join(import.meta.dirname, 'dbos-process.ts')], {
    environment: {
      ...process.env,
      PACKAGES: packages,
      DATABASE_URL: databaseUrl,
      DATABASE_POOL: String(poolSize),
      PORT: String(port),
    },
  })
  parts.defer(async () => {
    process.kill(child.pid, 'SIGCONT')
    await child.stop()
  })
  const url = `http://127.0.0.1:${port}`
  await untilReady(url)
  return {
    chatUrl: url,
    chats: echoChats(conversations),
    repliesIn: 'response',
    databaseUrl,
    processes: { api: child.pid, worker: child.pid },
    // It polls its queue, and would be work beside the other sides.
    pause: (paused) => void process.kill(child.pid, paused ? 'SIGSTOP' : 'SIGCONT'),
  }
}
