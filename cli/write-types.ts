import { readFile, writeFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { cardReferenceFile, writeCardReference } from './author-types/card-reference.ts'
import { flowSchemaFile, writeFlowSchema } from './author-types/flow-json-schema.ts'
import { typesFile, writeTypes } from './author-types/write-types.ts'

/**
 * Writes the types for authors of bots to `bot/index.d.ts`, the reference of cards to `docs/cards.md` and the JSON Schema
 * of flows to `bot/flow.schema.json`; with `--check`, compares the committed files with the schemas instead.
 */
for (const [file, text] of [
  [typesFile, await writeTypes()],
  [cardReferenceFile, await writeCardReference()],
  [flowSchemaFile, writeFlowSchema()],
] as const) {
  if (!process.argv.includes('--check')) {
    await writeFile(file, text)
  } else if (text !== (await readFile(file, 'utf8').catch(() => ''))) {
    console.error(`${relative('.', file)} differs from the schemas: run "npm run types" and commit it`)
    process.exitCode = 1
  }
}
