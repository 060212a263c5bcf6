import type { ExtractionTask, Passage } from './contract.ts'

/** The messages between the worker and the program that reads a document. */

const numberBytes = 4

/** The task, preceded by its length and followed by the document. */
export async function* joinTask(
  task: ExtractionTask,
  document: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  const text = Buffer.from(JSON.stringify(task))
  const head = Buffer.alloc(numberBytes)
  head.writeUInt32LE(text.length)
  yield Buffer.concat([head, text])
  yield* document
}

export function splitTask(bytes: Buffer): { task: ExtractionTask; document: Buffer } {
  const end = numberBytes + bytes.readUInt32LE()
  const task = JSON.parse(bytes.toString('utf8', numberBytes, end)) as ExtractionTask
  return { task, document: bytes.subarray(end) }
}

/** The last line that the program writes, after one for each passage. */
export type LastLine = { count: number } | { refused: string }

/** Reads the last line; undefined when the program did not write one. */
export function readLastLine(output: Buffer): LastLine | undefined {
  try {
    return JSON.parse(output.toString('utf8', output.lastIndexOf('\n') + 1)) as LastLine
  } catch {
    return undefined
  }
}

/** Reads the passages one at a time, because all of them together may be large. */
export function* readPassages(output: Buffer, count: number): Generator<Passage> {
  let start = 0
  for (let index = 0; index < count; index += 1) {
    const end = output.indexOf('\n', start)
    yield JSON.parse(output.toString('utf8', start, end)) as Passage
    start = end + 1
  }
}
