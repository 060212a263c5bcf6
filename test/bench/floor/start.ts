import { join } from 'node:path'
import { runMigrations } from 'bullmq'
import { Client } from 'pg'
import { startChild } from '../../../cli/children.ts'
import { freePort } from '../../../cli/free-port.ts'
import { untilReady, type System, type SystemOptions } from '../system.ts'

/** Starts the floor: the bare pipeline that our side is compared with. */
export async function startFloor(options: SystemOptions): Promise<System> {
  const { servers, backEnd, conversations, parts } = options
  const databaseUrl = await servers.postgres.createDatabase(`floor_on_${backEnd}`)
  await createTables(databaseUrl)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const environment = {
    DATABASE_URL: databaseUrl,
    ...(backEnd === 'redis' && { REDIS_URL: servers.redis.url }),
    PORT: String(port),
  }
  const start = async (name: string, ...parameters: string[]) => {
    const command = [process.execPath, ...parameters] as const
    const child = await startChild(name, command, { environment })
    parts.defer(async () => void (await child.stop()))
    return child.pid
  }
  const processes = {
    api: await start('floor api', join(import.meta.dirname, 'api.ts')),
    // isolated-vm asks for the option.
    worker: await start('floor worker', '--no-node-snapshot', join(import.meta.dirname, 'worker.ts')),
  }
  await untilReady(url)
  const chats = Array.from({ length: conversations }, (_, index) => ({ conversationId: `floor-${index}`, key: 'none' }))
  return { chatUrl: `${url}/chat`, chats, databaseUrl, processes }
}

async function createTables(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(
      `create table messages (
         id uuid primary key,
         conversation_id text not null,
         payload jsonb not null,
         created_at timestamptz not null default now()
       )`,
    )
    await runMigrations(client)
  } finally {
    await client.end()
  }
}
