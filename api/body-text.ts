import { ApiError } from '#shared/errors.ts'

/**
 * Decodes a body, or its next part. Bytes that the encoding does not have are refused: replaced by U+FFFD, they would be stored
 * as another text than the one that was sent.
 *
 * @param decoder with `fatal`
 * @throws ApiError `InvalidPayload`
 */
export function decodeBody(
  decoder: InstanceType<typeof TextDecoder>,
  bytes?: Uint8Array,
  options?: { stream: boolean },
): string {
  try {
    return decoder.decode(bytes, options)
  } catch (error) {
    if (error instanceof TypeError) throw wrongEncoding(decoder.encoding)
    throw error
  }
}

/** The refusal of a body with bytes that its encoding does not have. */
export function wrongEncoding(encoding: string): ApiError {
  return new ApiError('InvalidPayload', `The body is not valid ${encoding.toUpperCase()}: send JSON in UTF-8`)
}
