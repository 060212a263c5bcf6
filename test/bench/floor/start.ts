import { join } from 'node:path'
import { runMigrations } from 'bullmq'
import { Client } from 'pg'
import { startChild } from '../../../cli/start/children.ts'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { untilReady, type Chat, type StreamServer, type System, type SystemOptions } from '../system.ts'

/** Starts the floor: the minimal pipeline with which our side is compared. */
export async function startFloor(options: SystemOptions): Promise<System> {
  const databaseUrl = await options.servers.postgres.createDatabase(`floor_on_${options.backEnd}`)
  await createTables(databaseUrl)
  const { url, start } = await prepare(databaseUrl, options)
  const processes = {
    api: await start('api.ts'),
    // isolated-vm requires the option.
    worker: await start('worker.ts', '--no-node-snapshot'),
  }
  await untilReady(url)
  return { chatUrl: `${url}/chat`, chats: chatsOf(options), repliesIn: 'stream', databaseUrl, processes }
}

/** Starts the listeners' floor: a minimal server of streams. */
export async function startFloorStreams(database: string, options: SystemOptions): Promise<StreamServer> {
  const databaseUrl = await options.servers.postgres.createDatabase(database)
  await createTables(databaseUrl)
  const { url, start } = await prepare(databaseUrl, options)
  const pid = await start('streams.ts')
  await untilReady(url)
  return { chatUrl: `${url}/chat`, chats: chatsOf(options), pid }
}

function chatsOf({ conversations }: SystemOptions): Chat[] {
  return Array.from({ length: conversations }, (_, index) => ({ conversationId: `floor-${index}`, key: 'none' }))
}

async function prepare(databaseUrl: string, { servers, backEnd, nodeOptions, parts }: SystemOptions) {
  const port = await freePort()
  const environment = {
    DATABASE_URL: databaseUrl,
    ...(backEnd === 'redis' && { REDIS_URL: servers.redis.url }),
    PORT: String(port),
  }
  return {
    url: `http://127.0.0.1:${port}`,
    /** Starts a process and returns its id. */
    async start(script: string, ...options: string[]): Promise<number> {
      const command = [process.execPath, ...nodeOptions, ...options, join(import.meta.dirname, script)] as const
      const child = await startChild(`floor ${script}`, command, { environment })
      parts.defer(async () => void (await child.stop()))
      return child.pid
    },
  }
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
         created_at timestamptz(3) not null default clock_timestamp()
       )`,
    )
    await runMigrations(client)
  } finally {
    await client.end()
  }
}
