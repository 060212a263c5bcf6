import { rename, rm, writeFile } from 'node:fs/promises'

/**
 * Replaces a file, or creates it: its readers, and a crash, find the former content or the new one. A symbolic link of that
 * name is replaced, not its target.
 *
 * @param mode the permissions of the new file
 */
export async function replaceFile(file: string, content: string | Uint8Array, mode = 0o666): Promise<void> {
  const draft = `${file}.${process.pid}`
  try {
    await writeFile(draft, content, { mode })
    await rename(draft, file)
  } catch (cause) {
    await rm(draft, { force: true })
    throw cause
  }
}
