import { parentPort } from 'node:worker_threads'
import { ApiError } from '#shared/errors.ts'
import { parseBody } from '#shared/json/parse-body.ts'
import { decodeBody } from '../body-text.ts'
import { keepKnownFields } from './known-fields.ts'
import type { LargeBody, ParsedBody } from './large-bodies.ts'

/**
 * Maximum of values in a large body, without those that its operation does not know. The main thread creates each of them
 * again, in one turn of its event loop.
 */
const maxValues = 200_000

function parse({ bytes, encoding, schema }: LargeBody): ParsedBody {
  try {
    const value = parseBody(decodeBody(new TextDecoder(encoding, { fatal: true }), bytes))
    if (keepKnownFields(value, schema) > maxValues) {
      throw new ApiError('PayloadTooLarge', `A body of more than 1 MB has more than ${maxValues} values, the maximum`)
    }
    return { value }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { refusal: { type: error.type, message: error.message } }
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is the port of a thread
parentPort!.on('message', (body: LargeBody) => parentPort!.postMessage(parse(body)))
