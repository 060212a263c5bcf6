/** Types of the used parts of libraries without declarations. */

declare module 'path-browserify' {
  const path: object
  export default path
}

declare module 'readable-stream/lib/stream.js' {
  import stream from 'node:stream'
  export default stream
}

declare module 'readable-stream/lib/stream/promises.js' {
  import promises from 'node:stream/promises'
  export default promises
}

declare module 'des.js' {
  interface Cipher {
    update(data: Uint8Array): number[]
    final(): number[]
  }
  interface CipherClass {
    create(options: {
      type: 'encrypt' | 'decrypt'
      key: Uint8Array
      iv?: Uint8Array | undefined
      padding: boolean
    }): Cipher
  }
  const des: { EDE: CipherClass; CBC: { instantiate(cipher: CipherClass): CipherClass } }
  export default des
}
