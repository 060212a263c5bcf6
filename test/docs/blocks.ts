import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')

/** A fenced block of a page, and what the comment right before it says of it. */
export interface Block {
  /** `docs/limits.md:12`, where its text begins. */
  place: string
  language: string
  text: string
  /** The first line of the comment: what kind of example it is. Absent where there is no comment. */
  kind?: string
  /** The comment's other lines, `name: value` each. */
  notes: [name: string, value: string][]
}

/** A page of the documentation. */
export interface Page {
  /** From the root of the repository, with slashes. */
  path: string
  text: string
  blocks: Block[]
}

const fence = /(?:<!--((?:(?!-->)[^])*)-->\s*\n)?^```(\w*)\n([^]*?)^```$/gm

/** Reads the pages that people read: the README, CONTRIBUTING, and what is in `docs/`. */
export async function readPages(): Promise<Page[]> {
  const docs = await readdir(join(root, 'docs'), { recursive: true })
  const paths = [
    'README.md',
    'CONTRIBUTING.md',
    ...docs.filter((path) => path.endsWith('.md')).map((path) => `docs/${path}`),
  ]
  return Promise.all(
    paths.toSorted().map(async (path) => {
      const text = await readFile(join(root, path), 'utf8')
      return { path, text, blocks: blocksOf(path, text) }
    }),
  )
}

/** Finds the fenced blocks of a page, in their order. */
export function blocksOf(path: string, page: string): Block[] {
  return Array.from(page.matchAll(fence), (match) => {
    const [whole, comment, language = '', text = ''] = match
    const begin = match.index + whole.length - text.length - '```'.length
    const [kind, ...notes] = (comment ?? '').trim().split('\n')
    return {
      place: `${path}:${page.slice(0, begin).split('\n').length}`,
      language,
      text,
      ...(kind && { kind: kind.trim() }),
      notes: notes.map(noteOf),
    }
  })
}

function noteOf(line: string): [string, string] {
  const colon = line.indexOf(': ')
  return colon === -1 ? [line.trim(), ''] : [line.slice(0, colon).trim(), line.slice(colon + 2)]
}

/** The values that an example's comment gives for a name. */
export function notesOf({ notes }: Block, name: string): string[] {
  return notes.filter(([given]) => given === name).map(([, value]) => value)
}
