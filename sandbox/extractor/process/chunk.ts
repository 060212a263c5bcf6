import type { Block, Chunking, Passage } from '../contract.ts'

/** Characters of a heading that passages repeat, and how many headings. */
const headingCharacters = 200

/**
 * Divides a document into passages by its structure: short paragraphs of one heading and page become one passage, long
 * ones are split at the ends of sentences, and tables, lists and code stay whole where they fit.
 */
export async function* chunk(
  blocks: Iterable<Block> | AsyncIterable<Block>,
  { minimumParagraphLength, maximumChunkLength }: Chunking,
): AsyncGenerator<Passage> {
  const minimum = Math.min(minimumParagraphLength, maximumChunkLength)
  const headings = new Headings()
  let open: Passage | undefined

  function* close(): Generator<Passage> {
    if (open) yield open
    open = undefined
  }

  for await (const { subtype, text, level, pageNumber } of blocks) {
    if (subtype === 'title' || subtype === 'subtitle') {
      yield* close()
      yield* headings.enter(subtype, level ?? (subtype === 'title' ? 1 : 2), text, pageNumber)
      continue
    }
    headings.use()
    const page = pageNumber !== undefined && { pageNumber }
    const breadcrumb = headings.open
    for (const part of split(text, subtype, maximumChunkLength)) {
      const passage: Passage = { subtype, text: part, breadcrumb, ...page }
      if (open && open.pageNumber === pageNumber && isMerged(open, passage, minimum, maximumChunkLength)) {
        open.text += `\n${part}`
        continue
      }
      yield* close()
      open = passage
    }
  }
  yield* close()
  yield* headings.leave()
}

/** Short paragraphs and lists are merged, for instance a list with the sentence that introduces it. */
const merged = new Set(['paragraph', 'list'])

function isMerged(open: Passage, next: Passage, minimum: number, maximum: number): boolean {
  if (!merged.has(open.subtype) || !merged.has(next.subtype)) return false
  return open.text.length < minimum && open.text.length + 1 + next.text.length <= maximum
}

/** The headings above the current position. */
class Headings {
  #open: { level: number; passage: Passage; isUsed: boolean }[] = []

  get open(): string[] {
    return this.#open.map(({ passage }) => passage.text.slice(0, headingCharacters))
  }

  /** Enters a heading, and returns the headings that it closes if they had nothing below them. */
  *enter(subtype: 'title' | 'subtitle', level: number, text: string, pageNumber?: number): Generator<Passage> {
    const kept = this.#open.findIndex((heading) => heading.level >= level)
    if (kept >= 0) yield* bare(this.#open.splice(kept))
    for (const heading of this.#open) heading.isUsed = true
    const passage = { subtype, text, breadcrumb: this.open, ...(pageNumber !== undefined && { pageNumber }) }
    this.#open.push({ level, passage, isUsed: false })
  }

  /** Notes that there is text under the open headings. */
  use(): void {
    for (const heading of this.#open) heading.isUsed = true
  }

  leave(): Generator<Passage> {
    return bare(this.#open)
  }
}

function* bare(headings: { passage: Passage; isUsed: boolean }[]): Generator<Passage> {
  for (const { passage, isUsed } of headings) if (!isUsed) yield passage
}

/** Splits a block that is longer than passages may be: at its lines if they mean something, else at its sentences. */
function* split(text: string, subtype: Block['subtype'], maximum: number): Generator<string> {
  if (text.length <= maximum) return yield text
  const isByLine = subtype === 'table' || subtype === 'list' || subtype === 'code'
  yield* pack(isByLine ? linesOf(text) : sentencesOf(text), maximum, isByLine)
}

/** Joins parts to the longest texts that are allowed. A part that is too long by itself is cut. */
function* pack(parts: Iterable<string>, maximum: number, isByLine: boolean): Generator<string> {
  let text = ''
  for (const part of parts) {
    if (text !== '' && text.length + part.length > maximum) {
      if (text.trim() !== '') yield trimmed(text, isByLine)
      text = ''
    }
    text += part
    while (text.length > maximum) {
      const end = cut(text, maximum)
      yield trimmed(text.slice(0, end), isByLine)
      text = text.slice(end)
    }
  }
  if (text.trim() !== '') yield trimmed(text, isByLine)
}

function trimmed(text: string, isByLine: boolean): string {
  return isByLine ? text.trimEnd() : text.trim()
}

/** The last space before the maximum, unless that is far from it. */
function cut(text: string, maximum: number): number {
  const space = text.lastIndexOf(' ', maximum)
  if (space > maximum / 2) return space
  // A surrogate pair stays together.
  return /[\uD800-\uDBFF]/.test(text[maximum - 1]!) ? maximum - 1 : maximum
}

function* linesOf(text: string): Generator<string> {
  let start = 0
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    yield text.slice(start, end + 1)
    start = end + 1
  }
  yield text.slice(start)
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' })

/** The segmenter's time grows with the square of a text without ends of sentences. */
const segmentCharacters = 10_000

function* sentencesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const piece = text.slice(start, start + segmentCharacters + 1)
    const end = start + (piece.length <= segmentCharacters ? piece.length : cut(piece, segmentCharacters))
    for (const { segment } of segmenter.segment(text.slice(start, end))) yield segment
    start = end
  }
}
