import type { Transformer } from 'web-streams-polyfill'
import type { DecoderOptions } from './encoding.ts'

/** Makes the web's `TextEncoderStream` and `TextDecoderStream` from globals that exist already. */
export function createTextStreams(): Record<string, unknown> {
  return { TextDecoderStream, TextEncoderStream }
}

/** The common part of both classes. */
class TransformPair<Input, Output> {
  readonly readable: ReadableStream<Output>
  readonly writable: WritableStream<Input>

  constructor(transformer: Transformer<Input, Output>) {
    const { readable, writable } = new TransformStream<Input, Output>(transformer)
    this.readable = readable
    this.writable = writable
  }
}

class TextDecoderStream extends TransformPair<ArrayBuffer | ArrayBufferView, string> {
  readonly encoding: string
  readonly fatal: boolean
  readonly ignoreBOM: boolean

  constructor(label?: string, options?: DecoderOptions) {
    const decoder = new TextDecoder(label, options)
    super({
      transform(chunk, controller) {
        if ((chunk as unknown) === undefined) throw new TypeError('A chunk must be an ArrayBuffer or a view of one')
        const text = decoder.decode(chunk as ArrayBuffer, { stream: true })
        if (text !== '') controller.enqueue(text)
      },
      flush(controller) {
        const text = decoder.decode()
        if (text !== '') controller.enqueue(text)
      },
    })
    this.encoding = decoder.encoding
    this.fatal = decoder.fatal
    this.ignoreBOM = decoder.ignoreBOM
  }
}

class TextEncoderStream extends TransformPair<string, Uint8Array> {
  readonly encoding = 'utf-8'

  constructor() {
    const encoder = new TextEncoder()
    // A surrogate pair may be split between two chunks.
    let half = ''
    super({
      transform(chunk, controller) {
        const text = half + chunk
        half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? ''
        const whole = half === '' ? text : text.slice(0, -1)
        if (whole !== '') controller.enqueue(encoder.encode(whole))
      },
      flush(controller) {
        if (half !== '') controller.enqueue(encoder.encode(half))
      },
    })
  }
}
