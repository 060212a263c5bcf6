/**
 * Joins texts and bytes, preceded by their lengths, so that large ones cross process boundaries without being
 * serialized as JSON.
 */

const numberBytes = 4

export function joinParts(parts: (string | Uint8Array)[]): Buffer {
  const buffers = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))
  const head = Buffer.alloc(numberBytes * (buffers.length + 1))
  head.writeUInt32LE(buffers.length)
  for (const [index, { length }] of buffers.entries()) head.writeUInt32LE(length, numberBytes * (index + 1))
  return Buffer.concat([head, ...buffers])
}

/** @throws RangeError when the bytes have another form */
export function splitParts(bytes: Buffer): Buffer[] {
  const count = bytes.readUInt32LE()
  let start = numberBytes * (count + 1)
  const parts: Buffer[] = []
  for (let index = 0; index < count; index += 1) {
    const end = start + bytes.readUInt32LE(numberBytes * (index + 1))
    if (end > bytes.length) throw new RangeError('The output is shorter than the declared lengths of its parts')
    parts.push(bytes.subarray(start, end))
    start = end
  }
  return parts
}
