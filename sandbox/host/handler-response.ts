import type { HandlerResponse, Json } from '../protocol/contract.ts'

/**
 * Validates the answer of an SDK bundle's handler, with an HTTP server's defaults for missing fields.
 *
 * @throws TypeError with the fault of the answer
 */
export function toHandlerResponse(answer: Json): HandlerResponse {
  const { status, headers, body } = toObject(answer, 'The handler must answer with an object, or nothing')
  if (status !== undefined && !isStatus(status)) throw new TypeError('The status of the answer must be from 100 to 599')
  if (body !== undefined && body !== null && typeof body !== 'string') {
    throw new TypeError('The body of the answer must be a string')
  }
  return { status: status ?? 200, headers: toHeaders(headers ?? {}), ...(typeof body === 'string' && { body }) }
}

function toHeaders(headers: Json): Record<string, string> {
  const entries = Object.entries(toObject(headers, 'The headers of the answer must be an object'))
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (typeof value !== 'string') throw new TypeError(`The header ${name} of the answer must be a string`)
      return [name, value]
    }),
  )
}

function toObject(value: Json, otherwise: string): { [key: string]: Json | undefined } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError(otherwise)
  return value
}

function isStatus(value: Json): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599
}
