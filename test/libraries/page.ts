import { readFile, writeFile } from 'node:fs/promises'
import type { LibraryCase } from './cases.ts'
import type { Outcome } from './try-library.ts'

const begin = '<!-- libraries: written by npm run libraries -->'
const end = '<!-- end of libraries -->'

/** Writes the tables of what works, and of what does not, between their marks in a page. */
export async function writePage(file: string, outcomes: Map<LibraryCase, Outcome>): Promise<void> {
  const page = await readFile(file, 'utf8')
  const before = page.slice(0, page.indexOf(begin) + begin.length)
  const after = page.slice(page.indexOf(end))
  await writeFile(file, `${before}\n\n${describe([...outcomes])}\n\n${after}`)
}

function describe(all: [LibraryCase, Outcome][]): string {
  const works = all.flatMap(([one, outcome]) => (outcome.kind === 'works' ? [{ one, outcome }] : []))
  const others = all.filter(([, { kind }]) => kind !== 'works')
  return [
    `Tried on ${new Date().toISOString().slice(0, 10)}: ${works.length} of ${all.length} work.`,
    '## Supported libraries',
    table(
      ['For', 'Library', 'Version', 'Tried', 'Bundle', 'Note'],
      works.map(({ one, outcome }) => [
        one.group,
        `\`${nameOf(one)}\``,
        versionOf(one),
        one.use,
        `${Math.round(outcome.bundleSize / 1024)} KB`,
        one.note ?? '',
      ]),
    ),
    '## Unsupported libraries and alternatives',
    table(
      ['Library', 'Version', 'Why', 'Instead'],
      others.map(([one, outcome]) => [
        `\`${nameOf(one)}\``,
        versionOf(one),
        outcome.kind === 'works' ? '' : shortened(outcome.reason),
        one.instead ?? '',
      ]),
    ),
  ].join('\n\n')
}

function nameOf({ packages }: LibraryCase): string {
  return Object.keys(packages).join('`, `')
}

function versionOf({ packages }: LibraryCase): string {
  return Object.values(packages)[0]!
}

/** The first half of what is said: the second is the remedy. */
function shortened(reason: string): string {
  const [, module] = /imports '([^']+)'/.exec(reason) ?? []
  return module === undefined
    ? reason.split('\n')[0]!.replaceAll('|', '\\|').slice(0, 160)
    : `imports \`${module}\` of Node`
}

function table(heads: string[], rows: string[][]): string {
  const lines = [heads, heads.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
