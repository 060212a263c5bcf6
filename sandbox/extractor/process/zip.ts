import { inflateRawSync } from 'node:zlib'
import { Refused } from './refused.ts'

const endSignature = Buffer.from('PK\x05\x06', 'latin1')
const entrySignature = 0x02014b50
const localSignature = 0x04034b50
const endBytes = 22
const entryBytes = 46
const localBytes = 30

const maxEntries = 5000
const megabyte = 1024 * 1024
/** Upper bound of the texts of a document; its images are never unpacked. */
const maxTextMegabytes = 64

/**
 * Refuses an archive whose texts would take too much memory unpacked, before another reader unpacks them. Sizes that the
 * archive states are not believed.
 *
 * @throws Refused
 */
export function assertUnzippedSize(bytes: Buffer): void {
  let left = maxTextMegabytes * megabyte
  for (const { name, method, packed } of entriesOf(bytes)) {
    if (!/\.(?:xml|rels)$/i.test(name)) continue
    left -= unpackedSize(method, packed, left)
    if (left < 0) throw tooLarge()
  }
}

function unpackedSize(method: number, packed: Buffer, left: number): number {
  if (method === 0) return packed.length
  if (method !== 8) throw unreadable()
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, left) }).length
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
    throw unreadable()
  }
}

interface Entry {
  name: string
  method: number
  packed: Buffer
}

function* entriesOf(bytes: Buffer): Generator<Entry> {
  const end = bytes.lastIndexOf(endSignature)
  if (end < 0 || end + endBytes > bytes.length) throw unreadable()
  const count = bytes.readUInt16LE(end + 10)
  if (count > maxEntries) throw new Refused(`The Word document has more than ${maxEntries} parts`)
  // A reader that ignores the count would see more entries, so they are read up to the end of the list.
  let position = bytes.readUInt32LE(end + 16)
  let seen = 0
  while (position + entryBytes <= end && bytes.readUInt32LE(position) === entrySignature) {
    seen += 1
    if (seen > maxEntries) throw new Refused(`The Word document has more than ${maxEntries} parts`)
    const nameBytes = bytes.readUInt16LE(position + 28)
    const others = bytes.readUInt16LE(position + 30) + bytes.readUInt16LE(position + 32)
    const local = bytes.readUInt32LE(position + 42)
    if (local + localBytes > bytes.length || bytes.readUInt32LE(local) !== localSignature) throw unreadable()
    const start = local + localBytes + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    yield {
      name: bytes.toString('utf8', position + entryBytes, position + entryBytes + nameBytes),
      method: bytes.readUInt16LE(position + 10),
      packed: bytes.subarray(start, start + bytes.readUInt32LE(position + 20)),
    }
    position += entryBytes + nameBytes + others
  }
  if (seen !== count) throw unreadable()
}

function tooLarge(): Refused {
  return new Refused(`The text of the Word document has more than ${maxTextMegabytes} MB unpacked`)
}

function unreadable(): Refused {
  return new Refused('The file is not a readable Word document (.docx)')
}
