import { EventEmitter, once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { unavailable } from '../errors.ts'
import type { Logger } from '../telemetry/logger.ts'

/** An external service of this process, which may be unavailable. */
export interface Dependency {
  readonly name: string
  /**
   * The last known state: an outage is detected within two and a half seconds, and at once where connections are
   * refused.
   */
  isUp(): boolean
  /** Checks now. @returns whether the service has answered within this time */
  check(milliseconds: number): Promise<boolean>
  /**
   * Runs work that needs the service.
   * @throws ApiError 503 when the service is unavailable, or becomes so before the work ends
   */
  failFast<Result>(work: () => Promise<Result>): Promise<Result>
  /**
   * Resolves when the service is available.
   * @throws Error when the signal is aborted first
   */
  waitUntilUp(signal?: AbortSignal): Promise<void>
  /** Calls `listener` whenever the service returns. @returns a function that removes the listener */
  onReturn(listener: () => void): () => void
}

export interface WatchOptions {
  name: string
  /** Sends a request to the service; rejects when there is no answer. */
  ping(): Promise<unknown>
  /** Closes the connections, which get no answers; the next work opens new ones. */
  cut(): void
  /** Closes the connection used for pings, at the end of the monitor. */
  end(): Promise<void>
}

/** A dependency with its monitor. */
export interface Watch extends Dependency {
  /** Checks at once, after a connection has failed. */
  probe(): void
  close(): Promise<void>
}

const probeIntervalMilliseconds = 500
/** An idle server answers within a millisecond, a busy one within tens of them. */
const patienceMilliseconds = 2000
const retryAfterSeconds = 2

/** Monitors a dependency: pings it twice a second, and logs each change of its state. */
export function watch({ name, ping, cut, end }: WatchOptions, log: Logger): Watch {
  const events = new EventEmitter().setMaxListeners(0)
  /** Callbacks that fail the work in flight. */
  const inFlight = new Set<() => void>()
  const closing = new AbortController()
  let downSince: number | undefined
  let rest = new AbortController()

  const absence = () => unavailable(`The platform's ${name} is unavailable: try again soon`, { retryAfterSeconds })

  function markDown(problem: unknown): void {
    if (problem === silence) cut()
    if (downSince !== undefined) return
    downSince = Date.now()
    log.error({ err: problem }, `The ${name} is unavailable; dependent work waits or fails with 503`)
    for (const refuse of inFlight) refuse()
  }

  function markUp(): void {
    if (downSince === undefined) return
    log.warn({ downMilliseconds: Date.now() - downSince }, `The ${name} is available again`)
    downSince = undefined
    events.emit('return')
  }

  async function probeRepeatedly(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await inTime(ping())
        if (!closing.signal.aborted) markUp()
      } catch (problem) {
        if (!closing.signal.aborted) markDown(problem)
      }
      events.emit('probed')
      await pause(probeIntervalMilliseconds, undefined, { signal: rest.signal }).catch(() => {})
      rest = new AbortController()
    }
  }
  const probing = probeRepeatedly()

  const probe = () => rest.abort()
  return {
    name,
    isUp: () => downSince === undefined,
    probe,
    async check(milliseconds) {
      const timeLimit = new AbortController()
      const probed = once(events, 'probed', timeLimit).then(
        () => downSince === undefined,
        () => false,
      )
      probe()
      const timer = setTimeout(() => timeLimit.abort(), milliseconds)
      try {
        return await probed
      } finally {
        clearTimeout(timer)
      }
    },
    async failFast(work) {
      if (downSince !== undefined) throw absence()
      const { promise: gone, reject } = Promise.withResolvers<never>()
      const refuse = () => reject(absence())
      inFlight.add(refuse)
      try {
        return await Promise.race([work(), gone])
      } finally {
        inFlight.delete(refuse)
      }
    },
    async waitUntilUp(signal) {
      signal?.throwIfAborted()
      if (downSince !== undefined) await once(events, 'return', signal ? { signal } : {})
    },
    onReturn(listener) {
      events.on('return', listener)
      return () => events.off('return', listener)
    },
    async close() {
      closing.abort()
      rest.abort()
      await end()
      await probing
    },
  }
}

/** The error of a dependency that does not answer. */
const silence = new Error(`No answer within ${patienceMilliseconds} ms`)

/**
 * @throws Error `silence` when there is no answer in time. An answer that arrived while the event loop was busy counts.
 */
async function inTime(answer: Promise<unknown>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => setImmediate(() => reject(silence)), patienceMilliseconds)
  try {
    await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
