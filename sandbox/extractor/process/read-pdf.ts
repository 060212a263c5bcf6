import { definePDFJSModule, getDocumentProxy } from 'unpdf'
import type { Block } from '../contract.ts'
import { Refused } from './refused.ts'

export const maxPages = 2000

interface Line {
  text: string
  height: number
  /** Distance from the bottom of the page. */
  y: number
}

/** Divides a PDF into blocks, page by page: nothing of it is drawn or run, and no font is loaded. */
export async function* readPdf(bytes: Buffer): AsyncGenerator<Block> {
  await definePDFJSModule(() => import('unpdf/pdfjs'))
  const pdf = await getDocumentProxy(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length), {
    useWasm: false,
    disableFontFace: true,
    useSystemFonts: false,
    stopAtErrors: false,
    verbosity: 0,
  }).catch((error: unknown) => {
    throw new Refused(problemOf(error))
  })
  if (pdf.numPages > maxPages) {
    throw new Refused(`The PDF has ${pdf.numPages} pages, and ${maxPages} can be indexed: split it`)
  }
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number)
    const lines = toLines((await page.getTextContent()).items as Item[])
    for (const block of toBlocks(lines)) yield { ...block, pageNumber: number }
    page.cleanup()
  }
}

function problemOf(error: unknown): string {
  const { name, message } = error as Error
  if (name === 'PasswordException') return 'The PDF is protected by a password'
  return `The file is not a readable PDF: ${message}`
}

/** A piece of text at its place, as pdf.js reports it. */
interface Item {
  str?: string
  hasEOL?: boolean
  height?: number
  transform?: number[]
}

function toLines(items: Item[]): Line[] {
  const found: Line[] = []
  let line: Line | undefined
  for (const { str = '', hasEOL = false, height = 0, transform = [] } of items) {
    const y = transform[5] ?? 0
    if (line === undefined) line = { text: '', height: 0, y }
    line.text += str
    if (str.trim() !== '') line.height = Math.max(line.height, height)
    if (!hasEOL) continue
    found.push(line)
    line = undefined
  }
  if (line) found.push(line)
  return found.map(({ text, ...rest }) => ({ ...rest, text: text.replace(/\s+/g, ' ').trim() }))
}

const headingScale = 1.15
const titleScale = 1.6
const headingCharacters = 200
/** Lines that are further apart than this, in heights of a line, belong to different paragraphs. */
const paragraphGap = 1.8

function* toBlocks(lines: Line[]): Generator<Block> {
  const usual = usualHeight(lines)
  let text = ''
  let last: Line | undefined
  function* flush(): Generator<Block> {
    if (text !== '') yield { subtype: 'paragraph', text }
    text = ''
  }
  for (const line of lines) {
    if (line.text === '') {
      yield* flush()
      continue
    }
    const scale = usual === 0 ? 1 : line.height / usual
    if (scale >= headingScale && line.text.length <= headingCharacters) {
      yield* flush()
      const isTitle = scale >= titleScale
      yield { subtype: isTitle ? 'title' : 'subtitle', text: line.text, level: isTitle ? 1 : 2 }
      last = undefined
      continue
    }
    if (last && last.y - line.y > paragraphGap * Math.max(last.height, 1)) yield* flush()
    // A word that is divided at the end of a line is one word.
    text = /\p{L}-$/u.test(text) ? text.slice(0, -1) + line.text : text === '' ? line.text : `${text} ${line.text}`
    last = line
  }
  yield* flush()
}

/** The height of most of the text. */
function usualHeight(lines: Line[]): number {
  const characters = new Map<number, number>()
  for (const { height, text } of lines) {
    const rounded = Math.round(height * 2) / 2
    characters.set(rounded, (characters.get(rounded) ?? 0) + text.length)
  }
  let usual = 0
  let most = 0
  for (const [height, count] of characters) {
    if (count > most) [usual, most] = [height, count]
  }
  return usual
}
