import { EventEmitter } from 'node:events'
import { batched } from '../batch.ts'
import type { Dependencies } from '../connectivity/dependencies.ts'
import { repeatLater } from '../connectivity/repeat-later.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { RedisConnections } from '../connectivity/redis.ts'
import type { Database } from '../store/database.ts'
import { largestNotification } from '../store/sql.ts'
import type { ListenConnection } from '../store/listen-connection.ts'
import { fetchLargeSignal, notify, storeLargeSignal, type Notification } from '../store/signals.ts'

/**
 * Short messages between the processes about committed changes. A signal reaches the processes that are subscribed at
 * that moment and is not stored: it announces a change, which is in the rows.
 */
export interface Signals {
  /** Whether signals are notifications of PostgreSQL, which the statement of a change can send itself. */
  readonly areNotifications: boolean
  /** @throws ApiError 503 while the broker is unavailable */
  publish(topic: string, signal: object): Promise<void>
  /**
   * Calls `listener` for each signal of a topic. Resolves once the subscription is active.
   * @throws ApiError 503 while the broker is unavailable
   */
  subscribe(topic: string, listener: (signal: object) => void): Promise<() => void>
  /**
   * Calls `listener` when signals arrive again after an interruption in which some may have been lost: of this process, or of one
   * that published. @returns a
   * function that removes the listener
   */
  onGap(listener: () => void): () => void
  close(): Promise<void>
}

/** The topic of a conversation's real-time signals. */
export const conversationTopic = (conversationId: string) => `conversation:${conversationId}`
/** The topic on which the completion of awaited work is published. */
export const outcomeTopic = (id: string) => `outcome:${id}`

/** The topic of the open inboxes of a workspace. */
export const inboxTopic = (workspaceId: string) => `inbox:${workspaceId}`

/** The topic of the connection that holds a tunnel. */
export const tunnelTopic = (holder: string) => `tunnel:${holder}`

/** The topic on which a process publishes that it could not publish signals. */
const gapTopic = 'gap'

/** The interface of a back end. Listeners within this process are counted outside of it, once for both back ends. */
interface Transport {
  publish(topic: string, body: string): Promise<void>
  subscribe(topic: string): Promise<void>
  unsubscribe(topic: string): Promise<void>
  onGap(listener: () => void): void
  close(): Promise<void>
}

type Deliver = (topic: string, body: string) => void

/** Signals over Redis when it is configured, else over PostgreSQL. No other module depends on the choice. */
export function openSignals(dependencies: Dependencies, db: Database, log: Logger): Signals {
  const { broker, redis, database } = dependencies
  const listeners = new EventEmitter().setMaxListeners(0)
  const gaps = new EventEmitter().setMaxListeners(0)
  const deliver: Deliver = (topic, body) =>
    topic === gapTopic ? gaps.emit('gap') : listeners.emit(topic, JSON.parse(body))
  const transport = redis ? overRedis(redis, deliver) : overPostgres(database.listenConnection, db, deliver, log)
  transport.onGap(() => gaps.emit('gap'))
  // Both back ends repeat subscriptions when they connect.
  transport.subscribe(gapTopic).catch(() => {})
  // The subscriber's own connection may have been there all the time, or again before that of the publisher.
  const unpublished = repeatLater(broker, () => carry(() => transport.publish(gapTopic, '{}')))
  /** Topics with an active or pending subscription. A second listener of a topic waits for the same subscription. */
  const subscriptions = new Map<string, Promise<void>>()
  let isClosed = false

  async function carry(act: () => Promise<void>): Promise<void> {
    if (isClosed) throw new Error('The signals are closed')
    await broker.failFast(act)
  }

  return {
    areNotifications: redis === undefined,
    async publish(topic, signal) {
      try {
        await carry(() => transport.publish(topic, JSON.stringify(signal)))
      } catch (error) {
        if (!isClosed) unpublished.failed()
        throw error
      }
    },
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
      unpublished.close()
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
        // ioredis has repeated the subscriptions by now. Replies come in order, so once this one resolves, they are
        // active.
        if (!isFirst) subscriber.subscribe(channel(gapTopic)).then(listener, () => {})
        isFirst = false
      })
    },
    async close() {
      subscriber.disconnect()
    },
  }
}

/** Upper bound of notifications per statement. */
const batchSize = 100

/** Whether the payload of a notification is the signal, and not the id of a large one. */
const isWhole = (payload: string) => payload.startsWith('{')

/** Signals over the `ListenConnection`, in the order of their notifications within each topic. */
function overPostgres(listenConnection: ListenConnection, db: Database, deliver: Deliver, log: Logger): Transport {
  const topics = new Set<string>()
  const notifyBatched = batched(async (notifications: Notification[]) => {
    await notify(db, notifications)
    return notifications.map(() => undefined)
  }, batchSize)

  async function receive(topic: string, payload: string) {
    try {
      const body = isWhole(payload) ? payload : await fetchLargeSignal(db, payload)
      if (body !== undefined) deliver(topic, body)
    } catch (error) {
      log.error({ err: error, topic }, 'Delivering a signal failed')
    }
  }
  /** By topic, the delivery of a large signal, which is read first, and of those that have come after it. */
  const deliveries = new Map<string, Promise<void>>()
  listenConnection.onNotification((topic, payload) => {
    if (!topics.has(topic)) return
    const earlier = deliveries.get(topic)
    const delivery = earlier === undefined ? receive(topic, payload) : earlier.then(() => receive(topic, payload))
    if (earlier === undefined && isWhole(payload)) return
    deliveries.set(topic, delivery)
    void delivery.finally(() => {
      if (deliveries.get(topic) === delivery) deliveries.delete(topic)
    })
  })

  return {
    async publish(topic, body) {
      const fits = Buffer.byteLength(body) <= largestNotification
      await notifyBatched({ channel: topic, payload: fits ? body : await storeLargeSignal(db, body) })
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
