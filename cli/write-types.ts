import { readFile, writeFile } from 'node:fs/promises'
import { typesFile, writeTypes } from './author-types/write-types.ts'

/**
 * Writes the types for authors of bots to `bot/index.d.ts`; with `--check`, compares the committed file with the
 * operations instead.
 */
const types = await writeTypes()
if (!process.argv.includes('--check')) {
  await writeFile(typesFile, types)
} else if (types !== (await readFile(typesFile, 'utf8').catch(() => ''))) {
  console.error('bot/index.d.ts differs from the operations’ types: run "npm run types" and commit it')
  process.exitCode = 1
}
