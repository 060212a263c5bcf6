/**
 * Writes a stream in parts, and waits for each write before the one after it begins, so that the sender waits for the
 * database. One part is collected while the part before it is written.
 *
 * @param partBytes the size of each part but the last
 * @param write writes one part; parts are counted from 0
 * @returns the number of parts
 * @throws the error of the stream or of a write, after the write in flight has ended
 */
export async function writeParts(
  content: AsyncIterable<Uint8Array>,
  partBytes: number,
  write: (part: number, bytes: Buffer) => Promise<void>,
): Promise<number> {
  let parts = 0
  let writing = Promise.resolve()
  try {
    for await (const bytes of partsOf(content, partBytes)) {
      await writing
      writing = write(parts, bytes)
      // The failure is thrown where the write is awaited: before the next part, or at the end.
      writing.catch(() => {})
      parts += 1
    }
  } catch (error) {
    await writing.catch(() => {})
    throw error
  }
  await writing
  return parts
}

/** Cuts a stream into buffers of this size; the last one may be shorter. */
export async function* partsOf(content: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = []
  let heldBytes = 0
  for await (const chunk of content) {
    let rest = chunk
    while (heldBytes + rest.length >= partBytes) {
      const taken = partBytes - heldBytes
      yield Buffer.concat([...held, rest.subarray(0, taken)], partBytes)
      rest = rest.subarray(taken)
      held = []
      heldBytes = 0
    }
    if (rest.length > 0) held.push(rest)
    heldBytes += rest.length
  }
  if (heldBytes > 0) yield Buffer.concat(held, heldBytes)
}
