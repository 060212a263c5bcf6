import { STATUS_CODES } from 'node:http'
import { ApiError, type ErrorType, notFound } from '#shared/errors.ts'

/** The error types that correspond to HTTP statuses. */
const types: Record<number, ErrorType> = {
  404: 'ResourceNotFound',
  405: 'MethodNotFound',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
}

/**
 * Converts an error of Express or of its file server. An error with a status of 4xx (a malformed percent-encoding, an
 * unsatisfiable range) keeps that status.
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
