import { EventEmitter } from 'node:events'
import { Client, escapeIdentifier, type QueryResult } from 'pg'
import type { Config } from '../config/config.ts'
import type { Logger } from '../telemetry/logger.ts'
import { destroySocket, isCut } from './connections.ts'
import { isReadOnly } from '../errors.ts'
import { connectionSettings } from './database.ts'

/**
 * One permanent connection of a process to PostgreSQL, for pings and notifications. When it is lost, the next ping
 * opens a new one.
 */
export interface ListenConnection {
  /** @throws Error when no connection can be opened, or a new one breaks too */
  ping(): Promise<void>
  /** Milliseconds by which the server's clock is ahead of this machine's, as of a recent ping; 0 before the first one. */
  clockDifference(): number
  /** Resolves once notifications of the channel are received. The subscription survives reconnection. */
  listen(channel: string): Promise<void>
  unlisten(channel: string): Promise<void>
  onNotification(listener: (channel: string, payload: string) => void): void
  onLost(listener: () => void): void
  /** Calls `listener` after a reconnection: notifications in between are lost. */
  onRenewed(listener: () => void): void
  /** Closes a connection that does not answer. */
  cut(): void
  close(): Promise<void>
}

const closeMilliseconds = 500
/** The time in the answer to a ping that took longer says little about the clock. */
const preciseMilliseconds = 500

export function openListenConnection(settings: Config['database'], log: Logger): ListenConnection {
  const events = new EventEmitter().setMaxListeners(0)
  const channels = new Set<string>()
  let client: Client | undefined
  /** The connection, if it leads to a replica, which answers and has no notifications. */
  let replica: Client | undefined
  let connecting: Client | undefined
  let wasConnected = false
  let isClosed = false
  let clockDifference = 0
  /** A connection executes one statement at a time. */
  let turn: Promise<unknown> = Promise.resolve()

  async function connect(): Promise<Client> {
    if (isClosed) throw new Error('The connection was closed')
    const fresh = new Client(connectionSettings(settings))
    connecting = fresh
    fresh.on('error', (error) => log.debug({ err: error }, 'Database connection lost'))
    fresh.on('notification', ({ channel, payload }) => events.emit('notification', channel, payload ?? ''))
    fresh.once('end', () => {
      if (client !== fresh) return
      client = undefined
      events.emit('lost')
    })
    try {
      await fresh.connect()
      await listenToAll(fresh)
    } catch (error) {
      destroySocket(fresh)
      throw error
    } finally {
      connecting = undefined
    }
    client = fresh
    if (replica === fresh) return fresh
    if (wasConnected) events.emit('renewed')
    wasConnected = true
    return fresh
  }

  async function listenToAll(fresh: Client): Promise<void> {
    const statements = Array.from(channels, (channel) => `listen ${escapeIdentifier(channel)}`)
    if (statements.length === 0) return
    try {
      await fresh.query(statements.join(';'))
    } catch (error) {
      if (!isReadOnly(error)) throw error
      replica = fresh
    }
  }

  /** Has the next ping open another connection in place of one to a replica: the address may lead to the primary by then. */
  function leaveReplica(): void {
    if (!client || client !== replica) return
    client.end().catch(() => {})
    client = undefined
  }

  function ask<Row extends object>(statement: string): Promise<QueryResult<Row>> {
    const answer = turn.catch(() => {}).then(async () => (client ?? (await connect())).query<Row>(statement))
    turn = answer
    return answer
  }

  async function ping(): Promise<void> {
    const [begin, began] = [Date.now(), performance.now()]
    const { rows } = await ask<{ now: Date }>('select clock_timestamp() as now')
    const took = performance.now() - began
    if (took < preciseMilliseconds) clockDifference = rows[0]!.now.getTime() - (begin + took / 2)
  }

  return {
    async ping() {
      const used = client
      try {
        await ping()
      } catch (error) {
        // The server, or an administrator, has ended this connection, which is no outage as long as it accepts another one.
        if (!used || isCut(used)) throw error
        if (client === used) client = undefined
        destroySocket(used)
        await ping()
      }
      leaveReplica()
    },
    clockDifference: () => clockDifference,
    async listen(channel) {
      channels.add(channel)
      await ask(`listen ${escapeIdentifier(channel)}`)
    },
    async unlisten(channel) {
      channels.delete(channel)
      await ask(`unlisten ${escapeIdentifier(channel)}`)
    },
    onNotification: (listener) => events.on('notification', listener),
    onLost: (listener) => events.on('lost', listener),
    onRenewed: (listener) => events.on('renewed', listener),
    cut() {
      for (const open of [client, connecting]) if (open) destroySocket(open)
    },
    async close() {
      isClosed = true
      const open = client
      client = undefined
      if (connecting) destroySocket(connecting)
      if (!open) return
      const overdue = setTimeout(() => destroySocket(open), closeMilliseconds)
      await open.end()
      clearTimeout(overdue)
    },
  }
}
