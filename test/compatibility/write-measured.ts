import { readFile, writeFile } from 'node:fs/promises'

/**
 * Replaces the measured part of a page.
 *
 * @param page the name of a file in `docs/`
 * @param lines of Markdown
 * @param name of the part, in a page that has several
 */
export async function writeMeasured(page: string, lines: string[], name = 'measured'): Promise<void> {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const path = new URL(`../../docs/${page}`, import.meta.url)
  const [before = '', rest = ''] = (await readFile(path, 'utf8')).split(begin)
  await writeFile(path, `${before}${begin}\n\n${lines.join('\n')}\n\n${end}${rest.split(end)[1] ?? ''}`)
}
