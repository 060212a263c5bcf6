import type { IncomingMessage } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { RequestHandler, Response } from 'express'
import { unavailable } from '#shared/errors.ts'
import type { Context } from '#shared/context.ts'
import { BodyRoom } from './body-room.ts'

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
   *
   * @param bytes as they are held: decompressed
   * @param tenant whose request it is; always the same for one response
   * @throws ApiError 503 when there is no room for them; those of this request are then given back
   */
  hold(response: Response, bytes: number, tenant: string): void
  close(): void
}

const megabyte = 1024 * 1024

/** As long as the bodies of most interfaces may be. What a body has beyond it is in a room of its own. */
const ordinaryBytes = megabyte
/** The longest body there is, and enough of others' beside it for the usual bundle. */
const largeRoomBytes = 64 * megabyte
const largeBytesOfTenant = 50 * megabyte
/** Share of the common memory that one tenant may hold. */
const shareOfTenant = 3 / 4

interface Held {
  tenant: string
  ordinary: number
  large: number
}

const nothing: Held = { tenant: '', ordinary: 0, large: 0 }

const resolutionMilliseconds = 20
const lookMilliseconds = 1000
const retryAfterSeconds = 1

/** The rest of a refused body that is announced as no longer than this is read and forgotten. */
export const maxIgnoredBytes = 1024 * 1024

export function announcedBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return Infinity
  return Number(headers['content-length'] ?? 0)
}

export function openOverload({ config, log }: Pick<Context, 'config' | 'log'>): Overload {
  const most = config.overload
  /** Requests under way, with the bytes of their bodies that are held. */
  const held = new Map<object, Held>()
  const room = new BodyRoom(most.bodyBytes, Math.max(ordinaryBytes, most.bodyBytes * shareOfTenant))
  // A large body must not have others refused that send small ones: those have a room that it does not take.
  const largeRoom = new BodyRoom(largeRoomBytes, largeBytesOfTenant)
  /** For how many seconds in a row it has been. One long turn in an otherwise quiet second says nothing. */
  let lateSeconds = 0
  let refused = 0

  const delay = monitorEventLoopDelay({ resolution: resolutionMilliseconds })
  delay.enable()
  const timer = setInterval(() => {
    const lateMilliseconds = delay.percentile(50) / 1e6 - resolutionMilliseconds
    delay.reset()
    lateSeconds = lateMilliseconds > most.delayMilliseconds ? lateSeconds + 1 : 0
    const heldBytes = room.bytes + largeRoom.bytes
    if (refused > 0)
      log.warn({ refused, requests: held.size, heldBytes, lateMilliseconds }, 'Overloaded: refusing requests')
    refused = 0
  }, lookMilliseconds)

  function refuse(): never {
    refused += 1
    throw unavailable('The platform is overloaded: try again in a moment', { retryAfterSeconds })
  }

  /** What the request announces need not come, so it is not taken into account before it does. */
  function assertRoom(request: IncomingMessage): void {
    const isFull = announcedBytes(request) > 0 && room.bytes >= most.bodyBytes
    if (lateSeconds > 1 || held.size >= most.requests || isFull) refuse()
  }

  function giveBack({ tenant, ordinary, large }: Held): void {
    room.add(tenant, -ordinary)
    largeRoom.add(tenant, -large)
  }

  function release(key: object): void {
    giveBack(held.get(key) ?? nothing)
    held.delete(key)
  }

  return {
    handle(request, response, next) {
      try {
        assertRoom(request)
      } catch (error) {
        // What little there is of a body is read and forgotten, so that the client reads the answer.
        if (announcedBytes(request) > maxIgnoredBytes) response.set('Connection', 'close')
        return next(error)
      }
      held.set(response, nothing)
      response.once('close', () => release(response))
      next()
    },
    enter(request) {
      assertRoom(request)
      held.set(request, nothing)
      return { [Symbol.dispose]: () => release(request) }
    },
    leave: release,
    hold(response, bytes, tenant) {
      const before = held.get(response)
      // The client has gone, and nobody will ever give the bytes back.
      if (before === undefined) return
      const ordinary = Math.min(bytes, ordinaryBytes - before.ordinary)
      const large = bytes - ordinary
      // A body that has most of the room comes in whole: otherwise the largest ones never would.
      const isWelcome = room.fits(tenant, ordinary) || before.ordinary > most.bodyBytes / 2
      if (!isWelcome || !largeRoom.fits(tenant, large)) {
        giveBack(before)
        held.set(response, nothing)
        refuse()
      }
      room.add(tenant, ordinary)
      largeRoom.add(tenant, large)
      held.set(response, { tenant, ordinary: before.ordinary + ordinary, large: before.large + large })
    },
    close() {
      clearInterval(timer)
      delay.disable()
    },
  }
}
