import type { CallTask } from '../protocol/contract.ts'
import { maxReadings } from '../protocol/protocol.ts'
import {
  construct,
  defineProperty,
  isObject,
  NativeError,
  NativeRangeError,
  NativeUint8Array,
  record,
} from './primordials.ts'
import type { KernelRun } from './run.ts'
import type { Stream } from './streams.ts'
import { followed } from './run.ts'

/**
 * Makes a request readable in parts: each call of its `stream()` reads from the first part on. If the host left the
 * body out, reading `body` throws the reason.
 */
export function makeReadable(
  run: KernelRun,
  argument: Record<string, unknown>,
  { field, refusal }: NonNullable<CallTask['streamed']>,
): void {
  const request = argument[field]
  if (!isObject(request)) return
  let readings = 0
  const stream = () => {
    if (readings >= maxReadings) throw new NativeRangeError(`A body may be read at most ${maxReadings} times`)
    readings += 1
    return readParts(followed(run, run.inbound.open(`${field}/${readings}`)))
  }
  // Not enumerable, so that a copy of the request, or its JSON, holds data only.
  defineProperty(request, 'stream', record({ value: stream }))
  if (refusal === undefined) return
  const get = () => {
    throw new NativeRangeError(refusal)
  }
  defineProperty(request, 'body', record({ get }))
}

async function* readParts(stream: Stream): AsyncGenerator<Uint8Array> {
  let isOver = false
  try {
    for (;;) {
      const { data, failure } = await stream.next('bytes')
      isOver = data === undefined
      if (failure !== undefined) throw new NativeError(failure.message)
      if (isOver) return
      yield construct(NativeUint8Array, [data]) as Uint8Array
    }
  } finally {
    if (!isOver) stream.cancel()
  }
}
