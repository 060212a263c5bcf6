import type { IncomingMessage } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { RequestHandler, Response } from 'express'
import { unavailable } from '#shared/errors.ts'
import type { Context } from '#shared/context.ts'

/**
 * What this process takes upon itself at one time. Beyond it, requests are answered 503 before anything is done for
 * them: a process that takes on everything answers nobody in time, and ends when its memory does.
 */
export interface Overload {
  /** Counts requests in and out, and answers those that are too many. */
  handle: RequestHandler
  /**
   * Counts a request in that does not come by way of Express.
   * @returns disposing counts it out
   * @throws ApiError 503 when it is one too many
   */
  enter(request: IncomingMessage): Disposable
  /** Counts a request out whose response goes on as a stream, which has bounds of its own. */
  leave(response: Response): void
  /**
   * Takes bytes of a body into account until the response is closed.
   * @throws ApiError 503 when there is no room for them; those of this request are then given back
   */
  hold(response: Response, bytes: number): void
  close(): void
}

const resolutionMilliseconds = 20
const lookMilliseconds = 1000
const retryAfterSeconds = 1

/** The rest of a refused body that is announced as no longer than this is read and forgotten. */
export const mostIgnoredBytes = 1024 * 1024

export function announcedBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return Infinity
  return Number(headers['content-length'] ?? 0)
}

export function openOverload({ config, log }: Pick<Context, 'config' | 'log'>): Overload {
  const most = config.overload
  /** Requests under way, with the bytes of their bodies that are held. */
  const held = new Map<object, number>()
  let heldBytes = 0
  /** For how many seconds in a row it has been. One long turn in an otherwise quiet second says nothing. */
  let lateSeconds = 0
  let refused = 0

  const delay = monitorEventLoopDelay({ resolution: resolutionMilliseconds })
  delay.enable()
  const timer = setInterval(() => {
    const lateMilliseconds = delay.percentile(50) / 1e6 - resolutionMilliseconds
    delay.reset()
    lateSeconds = lateMilliseconds > most.delayMilliseconds ? lateSeconds + 1 : 0
    if (refused > 0)
      log.warn({ refused, requests: held.size, heldBytes, lateMilliseconds }, 'Overloaded: requests are refused')
    refused = 0
  }, lookMilliseconds)

  function refuse(): never {
    refused += 1
    throw unavailable('The platform is overloaded: try again in a moment', { retryAfterSeconds })
  }

  /** What the request announces need not come, so it is not taken into account before it does. */
  function assertRoom(request: IncomingMessage): void {
    const isFull = announcedBytes(request) > 0 && heldBytes >= most.bodyBytes
    if (lateSeconds > 1 || held.size >= most.requests || isFull) refuse()
  }

  function release(key: object): void {
    heldBytes -= held.get(key) ?? 0
    held.delete(key)
  }

  return {
    handle(request, response, next) {
      try {
        assertRoom(request)
      } catch (error) {
        // What little there is of a body is read and forgotten, so that the client reads the answer.
        if (announcedBytes(request) > mostIgnoredBytes) response.set('Connection', 'close')
        return next(error)
      }
      held.set(response, 0)
      response.once('close', () => release(response))
      next()
    },
    enter(request) {
      assertRoom(request)
      held.set(request, 0)
      return { [Symbol.dispose]: () => release(request) }
    },
    leave: release,
    hold(response, bytes) {
      const before = held.get(response)
      // The client has gone, and nobody will ever give the bytes back.
      if (before === undefined) return
      // A body that has most of the room comes in whole: otherwise the largest ones never would.
      if (heldBytes + bytes > most.bodyBytes && before <= most.bodyBytes / 2) {
        heldBytes -= before
        held.set(response, 0)
        refuse()
      }
      heldBytes += bytes
      held.set(response, before + bytes)
    },
    close() {
      clearInterval(timer)
      delay.disable()
    },
  }
}
