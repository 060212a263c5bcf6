import { pino, type DestinationStream } from 'pino'
import { megabyte } from '../units.ts'

/** Bytes of lines that wait for a standard output that refuses them; further lines are dropped. */
const maxWaitingBytes = 4 * megabyte

/**
 * Opens standard output for lines of logs. Where it is a file on a full disk, the process goes on: lines wait, up to a limit,
 * and are written with a line that follows when there is space again.
 *
 * Without a listener, pino ends the process for the first line that is refused, and then tries to write it for ever before the
 * end, in which nothing else runs.
 */
export function openStandardOutput(): DestinationStream {
  const stream = pino.destination({ dest: 1, maxLength: maxWaitingBytes })
  const flushSync = stream.flushSync.bind(stream)
  stream.on('error', () => {
    stream.flushSync = () => {}
  })
  stream.on('write', () => {
    stream.flushSync = flushSync
  })
  return stream
}
