/** The answer of an operation that comes in lines of JSON. */
export interface LineStream<Line = unknown> {
  /** Read once. A reader that stops early leaves the rest to the operation, which may have to record it. */
  lines: AsyncIterable<Line>
  /** The caller wants no further line, or the process stops. */
  cancel(): void
  /** It goes on until the caller leaves: the process does not wait for its end. */
  isEndless?: boolean
}

/** A stream of lines that are known. */
export function toLineStream<Line>(lines: readonly Line[]): LineStream<Line> {
  return { lines: fromList(lines), cancel() {} }
}

async function* fromList<Line>(lines: readonly Line[]): AsyncGenerator<Line, void, void> {
  yield* lines
}

/** Reads a stream to its end. */
export async function collectLines<Line>({ lines }: LineStream<Line>): Promise<Line[]> {
  const all: Line[] = []
  for await (const line of lines) all.push(line)
  return all
}

/** Leaves a stream without a reader to its operation, which may have to record it. */
export async function leaveUnread({ lines }: LineStream): Promise<void> {
  await lines[Symbol.asyncIterator]().return?.()
}
