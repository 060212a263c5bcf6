import { EventEmitter, once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { unavailable } from '../errors.ts'
import type { Logger } from '../telemetry/logger.ts'

/** Something outside of this process that it needs, and that may be away. */
export interface Dependency {
  readonly name: string
  /** As far as is known: an absence shows within two and a half seconds, and at once where connections are refused. */
  isUp(): boolean
  /** Finds out now. @returns whether it has answered within so many milliseconds */
  check(milliseconds: number): Promise<boolean>
  /**
   * Does something that needs it, for as long as it is here.
   * @throws ApiError 503 when it is away, or goes away before the end
   */
  failFast<Result>(work: () => Promise<Result>): Promise<Result>
  /**
   * Resolves when it is here.
   * @throws Error when the signal is aborted first
   */
  waitUntilUp(signal?: AbortSignal): Promise<void>
  /** Calls back whenever it has come back. @returns ends that */
  onReturn(listener: () => void): () => void
}

export interface WatchOptions {
  name: string
  /** Asks it something; rejects when it does not answer. */
  ping(): Promise<unknown>
  /** Ends the connections that it does not answer on any more; they are made anew. */
  cut(): void
  /** Ends the connection that is asked over, for good. */
  end(): Promise<void>
}

/** A dependency with the looking after it. */
export interface Watch extends Dependency {
  /** Has a look at once: something broke. */
  look(): void
  close(): Promise<void>
}

const restMilliseconds = 500
/** An idle server answers within a millisecond, a busy one within tens of them. */
const patienceMilliseconds = 2000
const retryAfterSeconds = 2

/** Looks after a dependency: whether it is here is asked twice a second, and logged when it changes. */
export function watch({ name, ping, cut, end }: WatchOptions, log: Logger): Watch {
  const events = new EventEmitter().setMaxListeners(0)
  /** What is under way while it is here. */
  const inFlight = new Set<() => void>()
  const closing = new AbortController()
  let downSince: number | undefined
  let rest = new AbortController()

  const absence = () => unavailable(`The platform's ${name} is unavailable: try again soon`, { retryAfterSeconds })

  function leave(problem: unknown): void {
    if (problem === silence) cut()
    if (downSince !== undefined) return
    downSince = Date.now()
    log.error({ err: problem }, `The ${name} is unavailable; dependent work waits or fails with 503`)
    for (const refuse of inFlight) refuse()
  }

  function arrive(): void {
    if (downSince === undefined) return
    log.warn({ awayMilliseconds: Date.now() - downSince }, `The ${name} is available again`)
    downSince = undefined
    events.emit('return')
  }

  async function lookAgainAndAgain(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await inTime(ping())
        if (!closing.signal.aborted) arrive()
      } catch (problem) {
        if (!closing.signal.aborted) leave(problem)
      }
      events.emit('looked')
      await pause(restMilliseconds, undefined, { signal: rest.signal }).catch(() => {})
      rest = new AbortController()
    }
  }
  const looking = lookAgainAndAgain()

  const look = () => rest.abort()
  return {
    name,
    isUp: () => downSince === undefined,
    look,
    async check(milliseconds) {
      const timeLimit = new AbortController()
      const looked = once(events, 'looked', timeLimit).then(
        () => downSince === undefined,
        () => false,
      )
      look()
      const timer = setTimeout(() => timeLimit.abort(), milliseconds)
      try {
        return await looked
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
      await looking
    },
  }
}

/** Why a dependency is away that says nothing. */
const silence = new Error(`No answer within ${patienceMilliseconds} ms`)

/** @throws Error `silence` when there is no answer in time. An answer that came while this process was busy counts. */
async function inTime(answer: Promise<unknown>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => setImmediate(() => reject(silence)), patienceMilliseconds)
  try {
    await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
