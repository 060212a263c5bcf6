import { megabyte } from '../units.ts'
import { withContents } from './content-references.ts'

/** The answer of a provider is longer than any answer of a model. */
export class AnswerTooLongError extends Error {
  override name = 'AnswerTooLongError'
}

/** Upper bound of an answer that is held. The longest answers of models are far below. */
export const maxAnswerBytes = 8 * megabyte

/** @param bytes of the answer so far */
export type OnPart = (part: Uint8Array, bytes: number) => void

/** Upper bounds of the bytes of an answer. */
export interface AnswerLimits {
  /** Of a whole answer, and of one event of a stream. */
  maxBytes: number
  /** Of a stream of events, each of which wraps some words in some hundred bytes. */
  maxStreamBytes: number
}

/**
 * Makes the only `fetch` of a provider. Requests go to the provider's own address, with the operator's key, and follow
 * no redirect; references to contents become these, and an answer is read up to a number of bytes.
 *
 * @param base the provider's address, to which all requests must belong
 * @param onPart called with each part of a successful answer; its error ends the answer
 */
export function guardedFetch(base: string, limits: AnswerLimits, onPart?: OnPart): typeof fetch {
  const { origin } = new URL(base)
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (url.origin !== origin) throw new Error(`The provider's library requests ${url.origin} and not ${origin}`)
    const sent = withContents(init)
    // For any other answer to a redirect, `fetch` keeps a copy of a body that it reads while it sends it.
    const redirect = sent?.body instanceof ReadableStream ? 'error' : 'manual'
    const response = await fetch(url, { ...sent, redirect })
    if (!response.body) return response
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    const measure = isStream ? measureEvents(limits) : measureWhole(limits)
    let bytes = 0
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(part, controller) {
          const isOver = measure(part)
          bytes += part.byteLength
          if (response.ok) onPart?.(part, bytes)
          controller.enqueue(part)
          // Libraries wait for the end of the connection, which some proxies keep open.
          if (isOver) controller.terminate()
        },
      }),
    )
    const { status, statusText, headers } = response
    return new Response(counted, { status, statusText, headers })
  }
}

/**
 * Measures the parts of an answer.
 *
 * @returns whether the provider says that it is over
 * @throws AnswerTooLongError
 */
type Measure = (part: Uint8Array) => boolean

function measureWhole({ maxBytes }: Pick<AnswerLimits, 'maxBytes'>): Measure {
  let bytes = 0
  return (part) => {
    bytes += part.byteLength
    if (bytes > maxBytes) throw new AnswerTooLongError(`The answer has more than ${maxBytes} bytes`)
    return false
  }
}

function measureEvents({ maxBytes, maxStreamBytes }: AnswerLimits): Measure {
  const measureStream = measureWhole({ maxBytes: maxStreamBytes })
  let ofEvent = 0
  // Of the part before: what is looked for may come in two parts.
  let last: Uint8Array = new Uint8Array()
  return (part) => {
    measureStream(part)
    const read = Buffer.concat([last, part])
    const end = Math.max(...eventEnds.map((text) => read.lastIndexOf(text)))
    ofEvent = end === -1 ? ofEvent + part.byteLength : read.byteLength - end
    if (ofEvent > maxBytes) throw new AnswerTooLongError(`An event of the answer has more than ${maxBytes} bytes`)
    last = read.subarray(-lastEvent.length)
    return read.includes(lastEvent)
  }
}

/** The event after the last one of an answer, in the language of OpenAI. */
const lastEvent = '\ndata: [DONE]\n'

/** The empty line after an event. */
const eventEnds = ['\n\n', '\n\r\n', '\r\r']
