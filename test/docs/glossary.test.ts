import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './blocks.ts'

/** The rows of the glossary in docs/architecture.md: term, meaning, file. */
async function glossary(): Promise<{ term: string; line: string; files: string[] }[]> {
  const page = await readFile(join(root, 'docs', 'architecture.md'), 'utf8')
  const [, section = ''] = page.split('\n## Glossary\n')
  const lines = section.split('\n').filter((line) => /^\| [a-z]/.test(line))
  return lines.map((line) => {
    const files = Array.from(line.matchAll(/`([\w./-]+\.\w+)`/g), ([, file]) => file!)
    return { term: line.split('|')[1]!.trim(), line, files }
  })
}

test('each term of the glossary names a file that exists', async () => {
  const rows = await glossary()
  expect(rows.length).toBeGreaterThan(39)
  expect(rows.filter(({ files }) => files.length === 0)).toEqual([])
  const missing = rows.flatMap(({ files }) => files.filter((file) => !existsSync(join(root, file))))
  expect(missing).toEqual([])
})

test('the glossary has each term once, in alphabetical order', async () => {
  const terms = (await glossary()).map(({ term }) => term)
  expect(terms).toEqual([...new Set(terms)].toSorted())
})
