import { readFile, writeFile } from 'node:fs/promises'

const begin = '<!-- measured -->'
const end = '<!-- /measured -->'

/**
 * Replaces the measured part of a page.
 *
 * @param page the name of a file in `docs/`
 * @param lines of Markdown
 */
export async function writeMeasured(page: string, lines: string[]): Promise<void> {
  const path = new URL(`../../docs/${page}`, import.meta.url)
  const [before = '', rest = ''] = (await readFile(path, 'utf8')).split(begin)
  await writeFile(path, `${before}${begin}\n\n${lines.join('\n')}\n\n${end}${rest.split(end)[1] ?? ''}`)
}
