import type { Compute } from '../isolate/computing.ts'

/** Computes in the process around the isolate, where that is permitted. */
let compute: Compute = () => undefined

/** Sets the way out, which the kernel gives. */
export function computeWith({ compute: given }: { compute: Compute }): void {
  compute = given
}

/** As the kernel's `compute`, with a copy of one or more parts as data. */
export function computeOutside(request: string, ...parts: Uint8Array[]): Uint8Array<ArrayBuffer> | undefined {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const data = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    data.set(part, at)
    at += part.length
  }
  return compute(request, data.buffer)
}
