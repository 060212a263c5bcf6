/**
 * The program that reads users' documents. It receives a task and a document over descriptor 3, until that ends, and
 * replies there: a line of JSON for each passage, and one for the outcome.
 */

import { Socket } from 'node:net'
import type { Block, ExtractionTask, Passage } from '../contract.ts'
import { splitTask, type LastLine } from '../frames.ts'
import { chunk } from './chunk.ts'
import { readDocx } from './read-docx.ts'
import { charsetOf, readHtml } from './read-html.ts'
import { readMarkdown } from './read-markdown.ts'
import { readPdf } from './read-pdf.ts'
import { decodeText, readText } from './read-text.ts'
import { Refused } from './refused.ts'

// It is written to when all input has come.
const channel = new Socket({ fd: 3, allowHalfOpen: true })
const chunks: Buffer[] = []
channel.on('data', (chunk: Buffer) => chunks.push(chunk))
channel.once('end', () => void reply())

async function reply(): Promise<void> {
  const { task, document } = splitTask(Buffer.concat(chunks.splice(0)))
  const end = await extract(task, document)
  // Parsers may leave timers behind.
  channel.end(JSON.stringify(end), () => process.exit())
}

async function extract(task: ExtractionTask, document: Buffer): Promise<LastLine> {
  const { chunking, maxPassages } = task
  let count = 0
  try {
    for await (const passage of chunk(readBlocks(task, document), chunking)) {
      count += 1
      if (count > maxPassages) return { refused: `The document has more than ${maxPassages} passages: split it` }
      channel.write(`${JSON.stringify(storable(passage))}\n`)
    }
  } catch (error) {
    if (error instanceof RangeError)
      return { refused: 'The document is nested too deeply, or a part of it is too long' }
    if (error instanceof Refused) return { refused: error.message }
    return { refused: `The document cannot be read: ${error instanceof Error ? error.message : 'it has another form'}` }
  }
  return { count }
}

function readBlocks({ format, charset }: ExtractionTask, document: Buffer): Iterable<Block> | AsyncIterable<Block> {
  switch (format) {
    case 'pdf':
      return readPdf(document)
    case 'docx':
      return readDocx(document)
    case 'html':
      return readHtml(toText(document, charset ?? charsetOf(document)))
    case 'markdown':
      return readMarkdown(toText(document, charset))
    case 'text':
      return readText(toText(document, charset))
  }
}

function toText(document: Buffer, charset: string | undefined): string {
  return decodeText(document, charset).replaceAll('\r\n', '\n')
}

const clean = (text: string) => text.toWellFormed().replaceAll('\0', '')

/** PostgreSQL stores neither U+0000 nor lone surrogates. */
function storable({ text, breadcrumb, ...rest }: Passage): Passage {
  return { ...rest, text: clean(text), breadcrumb: breadcrumb.map(clean) }
}
