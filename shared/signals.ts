import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, escapeIdentifier } from 'pg'
import type { Config } from './config.ts'
import type { Logger } from './logger.ts'
import { connectRedis } from './redis.ts'
import { connectionSettings, type Database } from './store/database.ts'
import { fetchLargeSignal, notify, storeLargeSignal } from './store/signals.ts'

/**
 * Short messages between the processes about what has been committed. A signal reaches whoever listens at that moment
 * and is gone: it says that something happened, and rows say what.
 */
export interface Signals {
  publish(topic: string, signal: object): Promise<void>
  /** Calls `listener` for each signal of a topic. Resolves when signals published from now on will be heard. */
  subscribe(topic: string, listener: (signal: object) => void): Promise<() => void>
  close(): Promise<void>
}

/** The topic of a conversation's real-time signals. */
export const conversationTopic = (conversationId: string) => `conversation:${conversationId}`
/** The topic that says that something somebody waits for is done. */
export const outcomeTopic = (id: string) => `outcome:${id}`

/** What a back end must do; the listeners of this process are counted in one place for both. */
interface Transport {
  publish(topic: string, body: string): Promise<void>
  subscribe(topic: string): Promise<void>
  unsubscribe(topic: string): Promise<void>
  close(): Promise<void>
}

type Deliver = (topic: string, body: string) => void

/** Signals over Redis when it is configured, else over PostgreSQL. Nothing else knows. */
export function openSignals(config: Config, db: Database, log: Logger): Signals {
  const listeners = new EventEmitter().setMaxListeners(0)
  const deliver: Deliver = (topic, body) => listeners.emit(topic, JSON.parse(body))
  const transport = config.redis
    ? overRedis(config.redis, deliver, log)
    : overPostgres(config.database, db, deliver, log)
  /** Topics that are being subscribed to or are. A second listener of a topic waits for the same subscription. */
  const subscriptions = new Map<string, Promise<void>>()

  return {
    publish: (topic, signal) => transport.publish(topic, JSON.stringify(signal)),
    async subscribe(topic, listener) {
      listeners.on(topic, listener)
      let subscription = subscriptions.get(topic)
      if (!subscription) {
        subscription = transport.subscribe(topic)
        subscriptions.set(topic, subscription)
      }
      const unsubscribe = () => {
        listeners.off(topic, listener)
        if (listeners.listenerCount(topic) > 0) return
        subscriptions.delete(topic)
        transport.unsubscribe(topic).catch((error: unknown) => log.warn({ err: error, topic }, 'Could not unsubscribe'))
      }
      try {
        await subscription
      } catch (error) {
        unsubscribe()
        throw error
      }
      return unsubscribe
    },
    close: () => transport.close(),
  }
}

function overRedis(settings: NonNullable<Config['redis']>, deliver: Deliver, log: Logger): Transport {
  const publisher = connectRedis(settings, log, 'fails')
  const subscriber = connectRedis(settings, log, 'waits')
  const channel = (topic: string) => `${settings.prefix}:signal:${topic}`
  const prefixLength = channel('').length
  subscriber.on('message', (name: string, body: string) => deliver(name.slice(prefixLength), body))
  return {
    async publish(topic, body) {
      await publisher.publish(channel(topic), body)
    },
    async subscribe(topic) {
      await subscriber.subscribe(channel(topic))
    },
    async unsubscribe(topic) {
      await subscriber.unsubscribe(channel(topic))
    },
    async close() {
      publisher.disconnect()
      subscriber.disconnect()
    },
  }
}

/** PostgreSQL refuses a NOTIFY payload of 8,000 bytes; what is larger goes through a table. */
const largestNotification = 7900
const reconnectMilliseconds = 500

/**
 * One connection listens for all topics of this process. When it is lost it is made anew and every topic subscribed
 * again; signals of the meantime are lost, as with any listener that was away.
 */
function overPostgres(settings: Config['database'], db: Database, deliver: Deliver, log: Logger): Transport {
  const topics = new Set<string>()
  let closed = false
  let client = connect()
  /** A connection takes one statement at a time. */
  let turn: Promise<unknown> = client

  async function connect(): Promise<Client> {
    for (;;) {
      const fresh = new Client({ ...connectionSettings(settings), keepAlive: true })
      fresh.on('error', (error) => log.warn({ err: error }, 'The signals’ database connection reports an error'))
      fresh.on('notification', ({ channel, payload }) => void receive(channel, payload ?? ''))
      try {
        await fresh.connect()
        for (const topic of topics) await fresh.query(`listen ${escapeIdentifier(topic)}`)
        fresh.once('end', () => {
          if (!closed) client = connect()
        })
        return fresh
      } catch (error) {
        await fresh.end().catch(() => {})
        log.warn({ err: error }, 'The signals have no database connection; trying again')
        await sleep(reconnectMilliseconds)
        if (closed) return fresh
      }
    }
  }

  function ask(statement: string): Promise<unknown> {
    const answer = turn.catch(() => {}).then(async () => (await client).query(statement))
    turn = answer
    return answer
  }

  async function receive(topic: string, payload: string) {
    try {
      const body = payload.startsWith('{') ? payload : await fetchLargeSignal(db, payload)
      if (body !== undefined) deliver(topic, body)
    } catch (error) {
      log.error({ err: error, topic }, 'A signal was lost on its way')
    }
  }

  return {
    async publish(topic, body) {
      const fits = Buffer.byteLength(body) <= largestNotification
      await notify(db, topic, fits ? body : await storeLargeSignal(db, body))
    },
    async subscribe(topic) {
      topics.add(topic)
      await ask(`listen ${escapeIdentifier(topic)}`)
    },
    async unsubscribe(topic) {
      topics.delete(topic)
      await ask(`unlisten ${escapeIdentifier(topic)}`)
    },
    async close() {
      closed = true
      await (await client).end()
    },
  }
}
