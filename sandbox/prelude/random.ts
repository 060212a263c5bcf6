/**
 * An endless source of random bytes, seeded with 32 bytes from outside of the isolate: ChaCha20 (RFC 8439). The first
 * bytes of each block replace the key, so that earlier output cannot be computed from the current state.
 */
export class RandomSource {
  #key: Uint32Array
  #unused: Uint8Array = new Uint8Array(0)

  /** @param seed 64 hexadecimal digits */
  constructor(seed: string) {
    const bytes = Uint8Array.from({ length: keyBytes }, (_, index) =>
      Number.parseInt(seed.slice(2 * index, 2 * index + 2), 16),
    )
    this.#key = new Uint32Array(bytes.buffer)
  }

  fillBytes(target: Uint8Array): void {
    for (let filled = 0; filled < target.length;) {
      if (this.#unused.length === 0) this.#replenish()
      const taken = this.#unused.subarray(0, target.length - filled)
      target.set(taken, filled)
      taken.fill(0)
      this.#unused = this.#unused.subarray(taken.length)
      filled += taken.length
    }
  }

  #replenish(): void {
    const block = new Uint8Array(chachaBlock(this.#key, 0, noNonce).buffer)
    this.#key = new Uint32Array(block.slice(0, keyBytes).buffer)
    this.#unused = block.subarray(keyBytes)
  }
}

const keyBytes = 32
const noNonce = new Uint32Array(3)

/** "expand 32-byte k" */
const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]

/** A block of ChaCha20's key stream. Words are little-endian, as on all supported machines. */
export function chachaBlock(key: Uint32Array, counter: number, nonce: Uint32Array): Uint32Array {
  const start = Uint32Array.from([...constants, ...key, counter, ...nonce])
  const state = start.slice()
  for (let round = 0; round < 10; round += 1) {
    quarterRound(state, 0, 4, 8, 12)
    quarterRound(state, 1, 5, 9, 13)
    quarterRound(state, 2, 6, 10, 14)
    quarterRound(state, 3, 7, 11, 15)
    quarterRound(state, 0, 5, 10, 15)
    quarterRound(state, 1, 6, 11, 12)
    quarterRound(state, 2, 7, 8, 13)
    quarterRound(state, 3, 4, 9, 14)
  }
  return state.map((word, index) => word + start[index]!)
}

function quarterRound(state: Uint32Array, a: number, b: number, c: number, d: number): void {
  mix(state, a, b, d, 16)
  mix(state, c, d, b, 12)
  mix(state, a, b, d, 8)
  mix(state, c, d, b, 7)
}

function mix(state: Uint32Array, sum: number, addend: number, turned: number, bits: number): void {
  state[sum]! += state[addend]!
  const mixed = state[turned]! ^ state[sum]!
  state[turned] = (mixed << bits) | (mixed >>> (32 - bits))
}
