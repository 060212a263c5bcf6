import { Redis } from 'ioredis'
import { Client, escapeIdentifier, type Pool } from 'pg'
import { environment } from './environment.ts'

/** Returns the function that publishes a conversation's messages. */
export function openPublisher(pool: Pool): (conversationId: string, body: string) => Promise<unknown> {
  const { redisUrl } = environment
  if (!redisUrl) return (conversationId, body) => pool.query('select pg_notify($1, $2)', [conversationId, body])
  const redis = new Redis(redisUrl)
  return (conversationId, body) => redis.publish(conversationId, body)
}

/**
 * Receives published messages.
 *
 * @returns a function that subscribes to one more conversation
 */
export async function openSubscriber(
  hear: (conversationId: string, body: string) => void,
): Promise<(conversationId: string) => Promise<unknown>> {
  const { redisUrl, databaseUrl } = environment
  if (redisUrl) {
    const redis = new Redis(redisUrl)
    redis.on('message', hear)
    return (conversationId) => redis.subscribe(conversationId)
  }
  const client = new Client({ connectionString: databaseUrl })
  client.on('notification', ({ channel, payload = '' }) => hear(channel, payload))
  await client.connect()
  let listening: Promise<unknown> = Promise.resolve()
  return (conversationId) => {
    listening = listening.then(() => client.query(`listen ${escapeIdentifier(conversationId)}`))
    return listening
  }
}
