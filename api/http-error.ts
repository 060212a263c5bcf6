import { STATUS_CODES } from 'node:http'
import { ApiError, type ErrorType, notFound } from '#shared/errors.ts'

/** The types that say the same as a status. */
const types: Record<number, ErrorType> = {
  404: 'ResourceNotFound',
  405: 'MethodNotFound',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
}

/**
 * Turns what Express, or what serves its files, throws into an answer: an error with a status of the client's fault (a
 * malformed percent-encoding, a range that a file does not have) is one, whatever else it is.
 */
export function toHttpError(cause: unknown): ApiError {
  const status = cause instanceof Error && 'status' in cause ? Number(cause.status) : 0
  if (cause instanceof ApiError || !(status >= 400 && status < 500)) return ApiError.from(cause)
  const type = types[status] ?? 'InvalidPayload'
  if (cause instanceof URIError) {
    return new ApiError(type, 'The path has a malformed percent-encoding: write % as %25', { cause, status })
  }
  const reason = STATUS_CODES[status] ?? 'Bad Request'
  if (status === 404) return notFound('Page', undefined, { cause })
  return new ApiError(type, `The request cannot be answered: ${reason}`, { cause, status })
}
