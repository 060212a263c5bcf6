import type { Connection } from '../connection.ts'
import { failed } from '../failure.ts'
import { assertNewFile, writeContent } from '../write-content.ts'

/**
 * Writes the rows of a person, a line of JSON each, to a new file or, for `-`, to standard output. An interrupted export
 * leaves no file there. Only the owner of the file can read it.
 *
 * @returns the number of rows
 * @throws Failure when the file exists, the platform refuses, or the export is incomplete
 */
export async function exportPerson(
  { stream }: Connection,
  body: Record<string, unknown>,
  path: string,
): Promise<number> {
  assertNewFile(path)
  const lines = await stream('POST', '/v1/admin/users/export', { body })
  let end = ''
  async function* pass(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      end = (end + Buffer.from(chunk.subarray(-200)).toString('latin1')).slice(-200)
      yield chunk
    }
    if (rowsOf(end) === undefined) throw new Error('the last line is missing')
  }
  try {
    await writeContent(pass(lines), path, { isPrivate: true })
  } catch (cause) {
    throw failed(`The export is incomplete: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  return rowsOf(end)!
}

/** The number of rows that the last line has. */
function rowsOf(end: string): number | undefined {
  const [, rows] = /\n?\{"kind":"end","rows":(\d+)\}\n$/.exec(end) ?? []
  return rows === undefined ? undefined : Number(rows)
}
