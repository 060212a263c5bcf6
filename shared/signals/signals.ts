import { EventEmitter } from 'node:events'
import { batched } from '../batch.ts'
import type { Dependencies } from '../connectivity/dependencies.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { RedisConnections } from '../connectivity/redis.ts'
import type { Database } from '../store/database.ts'
import type { ListenConnection } from '../store/listen-connection.ts'
import { fetchLargeSignal, notify, storeLargeSignal, type Notification } from '../store/signals.ts'

/**
 * Short messages between the processes about what has been committed. A signal reaches whoever listens at that moment
 * and is gone: it says that something happened, and rows say what.
 */
export interface Signals {
  /** @throws ApiError 503 while what carries the signals is away */
  publish(topic: string, signal: object): Promise<void>
  /**
   * Calls `listener` for each signal of a topic. Resolves when signals published from now on will be heard.
   * @throws ApiError 503 while what carries the signals is away
   */
  subscribe(topic: string, listener: (signal: object) => void): Promise<() => void>
  /** Calls back when signals are heard again after a time in which they may have been lost. @returns ends that */
  onGap(listener: () => void): () => void
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
  onGap(listener: () => void): void
  close(): Promise<void>
}

type Deliver = (topic: string, body: string) => void

/** Signals over Redis when it is configured, else over PostgreSQL. Nothing else knows. */
export function openSignals(dependencies: Dependencies, db: Database, log: Logger): Signals {
  const { broker, redis, database } = dependencies
  const listeners = new EventEmitter().setMaxListeners(0)
  const gaps = new EventEmitter().setMaxListeners(0)
  const deliver: Deliver = (topic, body) => listeners.emit(topic, JSON.parse(body))
  const transport = redis ? overRedis(redis, deliver) : overPostgres(database.listenConnection, db, deliver, log)
  transport.onGap(() => gaps.emit('gap'))
  /** Topics that are being subscribed to or are. A second listener of a topic waits for the same subscription. */
  const subscriptions = new Map<string, Promise<void>>()
  let isClosed = false

  async function carry(act: () => Promise<void>): Promise<void> {
    if (isClosed) throw new Error('The signals are closed')
    await broker.failFast(act)
  }

  return {
    publish: (topic, signal) => carry(() => transport.publish(topic, JSON.stringify(signal))),
    async subscribe(topic, listener) {
      listeners.on(topic, listener)
      let subscription = subscriptions.get(topic)
      if (!subscription) {
        subscription = carry(() => transport.subscribe(topic))
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
    onGap(listener) {
      gaps.on('gap', listener)
      return () => gaps.off('gap', listener)
    },
    close() {
      isClosed = true
      return transport.close()
    },
  }
}

function overRedis({ prefix, sender, connect }: RedisConnections, deliver: Deliver): Transport {
  const subscriber = connect('block')
  const channel = (topic: string) => `${prefix}:signal:${topic}`
  const prefixLength = channel('').length
  subscriber.on('message', (name: string, body: string) => deliver(name.slice(prefixLength), body))
  return {
    async publish(topic, body) {
      await sender.publish(channel(topic), body)
    },
    async subscribe(topic) {
      await subscriber.subscribe(channel(topic))
    },
    async unsubscribe(topic) {
      await subscriber.unsubscribe(channel(topic))
    },
    onGap(listener) {
      let isFirst = true
      subscriber.on('ready', () => {
        // The subscriptions have been asked for once more by now; when one more is answered, so are they.
        if (!isFirst) subscriber.subscribe(channel('')).then(listener, () => {})
        isFirst = false
      })
    },
    async close() {
      subscriber.disconnect()
    },
  }
}

/** PostgreSQL refuses a NOTIFY payload of 8,000 bytes; what is larger goes through a table. */
const largestNotification = 7900
/** As many as a statement tells of. */
const batchSize = 100

/** Over the connection to PostgreSQL that is always open. */
function overPostgres(listenConnection: ListenConnection, db: Database, deliver: Deliver, log: Logger): Transport {
  const topics = new Set<string>()
  const tell = batched(async (notifications: Notification[]) => {
    await notify(db, notifications)
    return notifications.map(() => undefined)
  }, batchSize)

  async function receive(topic: string, payload: string) {
    try {
      const body = payload.startsWith('{') ? payload : await fetchLargeSignal(db, payload)
      if (body !== undefined) deliver(topic, body)
    } catch (error) {
      log.error({ err: error, topic }, 'Delivering a signal failed')
    }
  }
  listenConnection.onNotification((topic, payload) => {
    if (topics.has(topic)) void receive(topic, payload)
  })

  return {
    async publish(topic, body) {
      const fits = Buffer.byteLength(body) <= largestNotification
      await tell({ channel: topic, payload: fits ? body : await storeLargeSignal(db, body) })
    },
    async subscribe(topic) {
      topics.add(topic)
      await listenConnection.listen(topic)
    },
    async unsubscribe(topic) {
      topics.delete(topic)
      await listenConnection.unlisten(topic)
    },
    onGap: (listener) => listenConnection.onRenewed(listener),
    async close() {
      topics.clear()
    },
  }
}
