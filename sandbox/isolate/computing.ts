import { bytesIn, NativeInt32Array, NativeUint8Array } from './primordials.ts'
import type { Post } from './shared.ts'

// Not a primordial: those are evaluated with modules of Node too, when the global is gone.
const { load, wait } = Atomics

/**
 * Has the process around the isolate compute something, and waits for the result; undefined when the process refuses.
 * `sandbox/child/computations.ts` has the requests.
 *
 * @throws TypeError unless `data` is an ArrayBuffer
 */
export type Compute = (request: string, data: ArrayBuffer) => Uint8Array<ArrayBuffer> | undefined

export interface Computing {
  compute: Compute
  /** Permits computations. Before, the isolate may be on the main thread of the process, which cannot wait for itself. */
  permit(): void
}

/** Bytes of the shared memory before the result: the number of answers so far, and the length of the last. */
export const answerBytes = 8

/** The length of an answer that refuses a request. */
export const refused = -1

/**
 * The thread of the isolate waits in `Atomics.wait`, which a disposal of the isolate ends, and which counts as processor
 * time of the run as far as the process uses any. A synchronous callback of isolated-vm would do neither: it stops the
 * clock, and V8 loses a request to stop that arrives meanwhile.
 */
export function createComputing(post: Post, memory: SharedArrayBuffer): Computing {
  const header = new NativeInt32Array(memory, 0, 2)
  const result = new NativeUint8Array(memory, answerBytes)
  let isPermitted = false
  return {
    permit() {
      isPermitted = true
    },
    compute(request, data) {
      bytesIn(data)
      if (!isPermitted) return undefined
      const answers = load(header, 0)
      post('compute', '', request, data)
      while (load(header, 0) === answers) wait(header, 0, answers)
      const length = header[1]!
      if (length === refused) return undefined
      const bytes = new NativeUint8Array(length)
      for (let index = 0; index < length; index += 1) bytes[index] = result[index]!
      return bytes
    },
  }
}
