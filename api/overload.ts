import type { IncomingMessage } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { RequestHandler, Response } from 'express'
import { ByteBudget } from '#shared/byte-budget.ts'
import { unavailable } from '#shared/errors.ts'
import type { Context } from '#shared/context.ts'
import { megabyte } from '#shared/units.ts'
import { endUnread } from './end-unread.ts'

/**
 * Bounds the load of this process. Requests beyond the bounds are answered 503 before any work is done for them: a
 * process that accepts every request answers none in time, and ends when it runs out of memory.
 */
export interface Overload {
  /** Counts requests in and out, and refuses those beyond the bounds. */
  handle: RequestHandler
  /**
   * Counts in a request that does not pass through Express.
   * @returns disposing counts it out
   * @throws ApiError 503 when the process is overloaded
   */
  enter(request: IncomingMessage): Disposable
  /** Counts out a request whose response continues as a stream: streams have bounds of their own. */
  leave(response: Response): void
  /**
   * Counts bytes of a body until the response is closed.
   *
   * @param bytes decompressed bytes
   * @param tenant the tenant that the request belongs to; always the same for one response
   * @throws ApiError 503 when they exceed the bounds; all bytes of this request are then released
   */
  hold(response: Response, bytes: number, tenant: string): void
  /**
   * Counts bytes of an answer until the response is closed: a client may read it slowly. As many as the body of the
   * request holds are counted already, because rows of a body are released as those of its answer are made.
   *
   * @param bytes of the whole answer so far
   * @throws ApiError 503 as `hold`
   */
  holdAnswer(response: Response, bytes: number, tenant: string): void
  close(): void
}

/** Maximum body of most interfaces. The bytes of a body beyond it count against a budget of their own. */
const ordinaryBytes = megabyte
/** The largest body that any interface accepts, and a usual bundle of another tenant beside it. */
const largeBudgetBytes = 64 * megabyte
const largeBytesOfTenant = 50 * megabyte
/** The largest answers of rows, and a usual one of another tenant beside them. */
const answerBudgetBytes = 64 * megabyte
const answerBytesOfTenant = 50 * megabyte
/** Share of the budget for ordinary bytes that one tenant may hold. */
const shareOfTenant = 3 / 4

interface Held {
  tenant: string
  ordinary: number
  large: number
  answer: number
}

const nothing: Held = { tenant: '', ordinary: 0, large: 0, answer: 0 }

const resolutionMilliseconds = 20
const sampleMilliseconds = 1000
const retryAfterSeconds = 1

/** A refused body that announces at most this many bytes is read and dropped, however long that takes. */
export const maxIgnoredBytes = 1024 * 1024

export function announcedBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return Infinity
  return Number(headers['content-length'] ?? 0)
}

export function openOverload({ config, log }: Pick<Context, 'config' | 'log'>): Overload {
  const limits = config.overload
  /** Requests in flight, with the bytes of their bodies that are held. */
  const held = new Map<object, Held>()
  const budget = new ByteBudget(limits.bodyBytes, Math.max(ordinaryBytes, limits.bodyBytes * shareOfTenant))
  // A separate budget, so that large bodies do not cause small ones to be refused.
  const largeBudget = new ByteBudget(largeBudgetBytes, largeBytesOfTenant)
  const answerBudget = new ByteBudget(answerBudgetBytes, answerBytesOfTenant)
  /** Consecutive seconds in which the event loop was late. One long turn in a quiet second is no overload. */
  let lateSeconds = 0
  let refused = 0

  const delay = monitorEventLoopDelay({ resolution: resolutionMilliseconds })
  delay.enable()
  const timer = setInterval(() => {
    const lateMilliseconds = delay.percentile(50) / 1e6 - resolutionMilliseconds
    delay.reset()
    lateSeconds = lateMilliseconds > limits.delayMilliseconds ? lateSeconds + 1 : 0
    const heldBytes = budget.bytes + largeBudget.bytes + answerBudget.bytes
    if (refused > 0)
      log.warn({ refused, requests: held.size, heldBytes, lateMilliseconds }, 'Overloaded: refusing requests')
    refused = 0
  }, sampleMilliseconds)

  function refuse(): never {
    refused += 1
    throw unavailable('The platform is overloaded: try again in a moment', { retryAfterSeconds })
  }

  /** Announced bytes may never arrive, so only received bytes are counted. */
  function assertCapacity(request: IncomingMessage): void {
    const isFull = announcedBytes(request) > 0 && budget.bytes >= limits.bodyBytes
    if (lateSeconds > 1 || held.size >= limits.requests || isFull) refuse()
  }

  function releaseBytes({ tenant, ordinary, large, answer }: Held): void {
    budget.add(tenant, -ordinary)
    largeBudget.add(tenant, -large)
    answerBudget.add(tenant, -answer)
  }

  function refuseBytes(response: Response, before: Held): never {
    releaseBytes(before)
    held.set(response, nothing)
    refuse()
  }

  function release(key: object): void {
    releaseBytes(held.get(key) ?? nothing)
    held.delete(key)
  }

  return {
    handle(request, response, next) {
      try {
        assertCapacity(request)
      } catch (error) {
        if (announcedBytes(request) > maxIgnoredBytes) endUnread(request)
        return next(error)
      }
      held.set(response, nothing)
      response.once('close', () => release(response))
      next()
    },
    enter(request) {
      assertCapacity(request)
      held.set(request, nothing)
      return { [Symbol.dispose]: () => release(request) }
    },
    leave: release,
    hold(response, bytes, tenant) {
      const before = held.get(response)
      // The response is closed, so nothing would release the bytes.
      if (before === undefined) return
      const ordinary = Math.min(bytes, ordinaryBytes - before.ordinary)
      const large = bytes - ordinary
      // A body that holds more than half of the budget is read to its end: otherwise the largest never would be.
      const fitsOrdinary = budget.fits(tenant, ordinary) || before.ordinary > limits.bodyBytes / 2
      if (!fitsOrdinary || !largeBudget.fits(tenant, large)) refuseBytes(response, before)
      budget.add(tenant, ordinary)
      largeBudget.add(tenant, large)
      const { answer } = before
      held.set(response, { tenant, ordinary: before.ordinary + ordinary, large: before.large + large, answer })
    },
    holdAnswer(response, bytes, tenant) {
      const before = held.get(response)
      if (before === undefined) return
      const more = bytes - before.ordinary - before.large - before.answer
      if (more <= 0) return
      if (!answerBudget.fits(tenant, more)) refuseBytes(response, before)
      answerBudget.add(tenant, more)
      held.set(response, { ...before, tenant, answer: before.answer + more })
    },
    close() {
      clearInterval(timer)
      delay.disable()
    },
  }
}
