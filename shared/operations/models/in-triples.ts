/** Upper bound of the bytes of a line; a multiple of three. */
const maxBytes = 48 * 1024

/** The bytes of some parts, in parts whose texts in base64 can also be joined: multiples of three bytes, but for the last. */
export async function* inTriples<Answer>(
  parts: AsyncGenerator<Uint8Array, Answer, void>,
): AsyncGenerator<Buffer, Answer, void> {
  let rest = Buffer.alloc(0)
  let next = await parts.next()
  for (; !next.done; next = await parts.next()) {
    const bytes = Buffer.concat([rest, next.value])
    const end = bytes.length - (bytes.length % 3)
    for (let at = 0; at < end; at += maxBytes) yield bytes.subarray(at, Math.min(at + maxBytes, end))
    rest = bytes.subarray(end)
  }
  if (rest.length > 0) yield rest
  return next.value
}
