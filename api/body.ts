import express, { type Request, type RequestHandler, type Response } from 'express'
import { ApiError } from '#shared/errors.ts'

const megabyte = 1024 * 1024

/** The largest body of each interface, in bytes (product specification, part 8). */
const limits: [prefix: string, bytes: number][] = [
  ['/v1/admin', 50 * megabyte],
  ['/v1/chat', megabyte],
  ['/chat', megabyte],
]

const parsers = limits.map(([prefix, limit]): [string, number, RequestHandler] => [
  prefix,
  limit,
  // Clients that forget the content type mean JSON too.
  express.json({ limit, type: () => true }),
])

/**
 * Reads a request's JSON body, up to the limit of the interface it is for.
 *
 * @returns undefined when there is none
 * @throws ApiError `PayloadTooLarge`, `InvalidPayload` or `UnsupportedMediaType`
 */
export async function readBody(request: Request, response: Response): Promise<unknown> {
  // The parser takes an empty body for an empty object.
  if (request.headers['content-length'] === '0') return undefined
  const [, limit, parse] = parsers.find(([prefix]) => request.path.startsWith(prefix)) ?? parsers[1]!
  try {
    await new Promise<void>((resolve, reject) => {
      parse(request, response, (error?: unknown) => (error ? reject(error) : resolve()))
    })
  } catch (error) {
    const refusal = toApiError(error, limit)
    // The rest of a body that is not wanted is not read, so the connection is of no further use.
    if (refusal.type === 'PayloadTooLarge') response.set('Connection', 'close')
    throw refusal
  }
  return request.body as unknown
}

/** Errors of the body parser say what they are in `type`. */
function toApiError(error: unknown, limit: number): ApiError {
  const { type, message } = error as { type?: string; message?: string }
  switch (type) {
    case 'entity.too.large':
      return new ApiError(
        'PayloadTooLarge',
        `The body is larger than ${limit / megabyte} MB, the most that this interface takes`,
      )
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new ApiError('UnsupportedMediaType', `The body cannot be read: ${message}. Send JSON in UTF-8`)
    case 'entity.parse.failed':
      return new ApiError('InvalidPayload', `The body is not valid JSON: ${message}`)
    default:
      return new ApiError('InvalidPayload', `The body could not be read: ${message}`, { cause: error })
  }
}
