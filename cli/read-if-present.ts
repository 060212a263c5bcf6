import { readFile } from 'node:fs/promises'
import { failed } from './failure.ts'

/** The text of a file; undefined when there is no such file. @throws Failure when it cannot be read */
export async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR'].includes(String(error.code)))
      return undefined
    throw failed(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
