/** The answer of a provider is longer than any answer of a model. */
export class AnswerTooLongError extends Error {
  override name = 'AnswerTooLongError'
}

/** @param bytes of the answer so far */
export type OnPart = (part: Uint8Array, bytes: number) => void

/**
 * Makes the only `fetch` of a provider. Requests go to the provider's own address, with the operator's key, and follow
 * no redirect; an answer is read up to a number of bytes.
 *
 * @param base the provider's address, to which all requests must belong
 * @param onPart called with each part of a successful answer; its error ends the answer
 */
export function guardedFetch(base: string, maxBytes: number, onPart?: OnPart): typeof fetch {
  const { origin } = new URL(base)
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (url.origin !== origin) throw new Error(`The provider's library requests ${url.origin} and not ${origin}`)
    const response = await fetch(url, { ...init, redirect: 'manual' })
    if (!response.body) return response
    let bytes = 0
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(part, controller) {
          bytes += part.byteLength
          if (bytes > maxBytes) throw new AnswerTooLongError(`The answer has more than ${maxBytes} bytes`)
          if (response.ok) onPart?.(part, bytes)
          controller.enqueue(part)
        },
      }),
    )
    const { status, statusText, headers } = response
    return new Response(counted, { status, statusText, headers })
  }
}
