import { RandomSource } from './random.ts'

const largestRequest = 65_536

export interface WebCrypto {
  getRandomValues<View extends ArrayBufferView>(view: View): View
  randomUUID(): string
  readonly [Symbol.toStringTag]: string
}

const hexadecimal = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The random part of the web's `crypto`; the group `subtle` adds the rest. */
export function createCrypto(seed: string): WebCrypto {
  const source = new RandomSource(seed)
  return {
    getRandomValues(view) {
      if (!ArrayBuffer.isView(view)) throw new TypeError('crypto.getRandomValues requires a typed array of integers')
      if (!/^(Big)?(Int|Uint)\d/.test(Object.prototype.toString.call(view).slice('[object '.length))) {
        throw new DOMException('crypto.getRandomValues requires a typed array of integers', 'TypeMismatchError')
      }
      if (view.byteLength > largestRequest) {
        const message = `crypto.getRandomValues fills at most ${largestRequest} bytes`
        throw new DOMException(message, 'QuotaExceededError')
      }
      source.fillBytes(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
      return view
    },
    randomUUID() {
      const bytes = new Uint8Array(16)
      source.fillBytes(bytes)
      bytes[6] = (bytes[6]! & 0x0f) | 0x40
      bytes[8] = (bytes[8]! & 0x3f) | 0x80
      const digits = Array.from(bytes, (byte) => hexadecimal[byte]).join('')
      return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    },
    get [Symbol.toStringTag]() {
      return 'Crypto'
    },
  }
}
