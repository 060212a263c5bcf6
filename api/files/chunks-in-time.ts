import type { Request, Response } from 'express'
import { ApiError } from '#shared/errors.ts'

/** A client that sends nothing for this long has gone. */
const idleMilliseconds = 30_000
/** Upper bound of the time of one upload. The sweep takes older objects without a file for abandoned. */
export const maxUploadMilliseconds = 2 * 3600 * 1000

/**
 * Reads the body of a request in chunks. A client that is idle, or that takes too long altogether, is answered 408 and
 * disconnected, and the reading fails. Time in which the consumer does not read does not count as idle.
 */
export async function* chunksInTime(
  request: Request,
  response: Response,
  { idle = idleMilliseconds, all = maxUploadMilliseconds } = {},
): AsyncGenerator<Buffer> {
  const giveUp = () => {
    const error = new ApiError('OperationTimeout', 'The content did not arrive in time: send it again', { status: 408 })
    response.once('finish', () => request.destroy())
    response.status(error.status).set('Connection', 'close').json(error.toJSON())
  }
  let waiting = setTimeout(giveUp, idle)
  const whole = setTimeout(giveUp, all)
  try {
    // A destroyed request could no longer be answered.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      clearTimeout(waiting)
      yield chunk as Buffer
      waiting = setTimeout(giveUp, idle)
    }
  } finally {
    clearTimeout(waiting)
    clearTimeout(whole)
  }
}
