import mammoth from 'mammoth'
import type { Block } from '../contract.ts'
import { readHtml } from './read-html.ts'
import { Refused } from './refused.ts'
import { assertUnzippedSize } from './zip.ts'

/** Divides a Word document into blocks. Files that it links to are not read, and its images are left out. */
export async function* readDocx(bytes: Buffer): AsyncGenerator<Block> {
  assertUnzippedSize(bytes)
  yield* readHtml(await toHtml(bytes))
}

async function toHtml(buffer: Buffer): Promise<string> {
  const options = {
    externalFileAccess: false,
    convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: '' })),
  }
  try {
    return (await mammoth.convertToHtml({ buffer }, options)).value
  } catch (error) {
    if (error instanceof RangeError) throw error
    throw new Refused(`The file is not a readable Word document (.docx): ${withoutFrame(error as Error)}`)
  }
}

/** The message without what the parser of XML puts around it: its name before, and a place that is unknown after. */
function withoutFrame({ message }: Error): string {
  return message.replace(/^error: \[xmldom error\]\s*/, '').replace(/\s*@#\[[^\]]*\]\s*$/, '')
}
