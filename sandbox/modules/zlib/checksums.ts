/** A checksum that grows with the data. */
export interface Checksum {
  update(bytes: Uint8Array): void
  /** The value so far, of 32 bits without a sign. */
  value(): number
}

let table: Uint32Array | undefined

function makeTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, index) => {
    let value = index
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1
    return value
  })
}

/** @param start the checksum of the data before */
export function crc32(start = 0): Checksum {
  const known = (table ??= makeTable())
  let crc = ~start
  return {
    update(bytes) {
      for (let at = 0; at < bytes.length; at += 1) crc = known[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8)
    },
    value: () => ~crc >>> 0,
  }
}

/** The most bytes whose sums stay exact. */
const bytesPerModulo = 3800

export function adler32(): Checksum {
  let low = 1
  let high = 0
  return {
    update(bytes) {
      for (let at = 0; at < bytes.length;) {
        const end = Math.min(at + bytesPerModulo, bytes.length)
        for (; at < end; at += 1) {
          low += bytes[at]!
          high += low
        }
        low %= 65_521
        high %= 65_521
      }
    },
    value: () => ((high << 16) | low) >>> 0,
  }
}
