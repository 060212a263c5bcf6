let table: Uint32Array | undefined

function makeTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, index) => {
    let value = index
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1
    return value
  })
}

/**
 * The CRC-32 of bytes, of 32 bits without a sign.
 *
 * @param start the checksum of the data before
 */
export function crc32(bytes: Uint8Array, start = 0): number {
  const known = (table ??= makeTable())
  let crc = ~start
  for (let at = 0; at < bytes.length; at += 1) crc = known[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8)
  return ~crc >>> 0
}
