/** A stream of Node's first version, such as a form of the package `form-data`. */
export interface LegacyStream {
  on(event: string, listener: (value: never) => void): unknown
  pause?(): unknown
  resume?(): unknown
}

/** Reads a stream part by part; it is paused meanwhile. */
export async function* readLegacyStream(stream: LegacyStream): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const chunks: (string | Uint8Array<ArrayBuffer>)[] = []
  const state: { isOver: boolean; failure?: { reason: unknown } } = { isOver: false }
  let changed = Promise.withResolvers<void>()
  const change = () => {
    stream.pause?.()
    changed.resolve()
  }
  stream.on('data', (chunk: string | Uint8Array<ArrayBuffer>) => {
    chunks.push(chunk)
    change()
  })
  stream.on('end', () => {
    state.isOver = true
    change()
  })
  stream.on('error', (reason: unknown) => {
    state.failure = { reason }
    change()
  })
  for (;;) {
    const chunk = chunks.shift()
    if (chunk !== undefined) yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    else if (state.failure) throw state.failure.reason
    else if (state.isOver) return
    else {
      changed = Promise.withResolvers()
      stream.resume?.()
      await changed.promise
    }
  }
}
