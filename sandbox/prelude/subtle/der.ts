import { concatenate } from '../blob.ts'
import { dataError } from './key.ts'

/** The part of ASN.1's distinguished encoding that key files use. */
export const tags = { integer: 0x02, bitString: 0x03, octetString: 0x04, nothing: 0x05, object: 0x06, sequence: 0x30 }

export interface Element {
  tag: number
  content: Uint8Array<ArrayBuffer>
}

/** Parses the bytes as a list of elements. Throws a DataError when they are malformed. */
export function readElements(bytes: Uint8Array<ArrayBuffer>): Element[] {
  const elements: Element[] = []
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at]!
    const short = bytes[at + 1] ?? 0
    const lengthBytes = short < 0x80 ? 0 : short & 0x7f
    if (lengthBytes > 4) throw malformed()
    let length = lengthBytes === 0 ? short : 0
    for (let index = 0; index < lengthBytes; index += 1) length = length * 256 + (bytes[at + 2 + index] ?? 0)
    const start = at + 2 + lengthBytes
    if (start + length > bytes.length) throw malformed()
    elements.push({ tag, content: bytes.slice(start, start + length) })
    at = start + length
  }
  return elements
}

/** Parses the elements of the sequence in these bytes. */
export function readSequence(bytes: Uint8Array<ArrayBuffer>): Element[] {
  const [sequence, ...more] = readElements(bytes)
  if (sequence?.tag !== tags.sequence || more.length > 0) throw malformed()
  return readElements(sequence.content)
}

/** The content of the element at this index, which must have this tag. */
export function contentAt(elements: readonly Element[], index: number, tag: number): Uint8Array<ArrayBuffer> {
  const element = elements[index]
  if (element?.tag !== tag) throw malformed()
  return element.content
}

export function writeElement(tag: number, ...contents: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const content = concatenate(contents)
  const length: number[] = []
  for (let left = content.length; left > 0; left = Math.floor(left / 256)) length.unshift(left % 256)
  const head = content.length < 0x80 ? [tag, content.length] : [tag, 0x80 | length.length, ...length]
  return concatenate([Uint8Array.from(head), content])
}

/** Encodes a non-negative number. */
export function writeInteger(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = bytes.findIndex((byte) => byte !== 0)
  const digits = start === -1 ? Uint8Array.of(0) : bytes.slice(start)
  return writeElement(tags.integer, digits[0]! > 0x7f ? concatenate([Uint8Array.of(0), digits]) : digits)
}

/** Reads the key in a `SubjectPublicKeyInfo`, which must have this algorithm identifier. */
export function readPublicKey(bytes: Uint8Array<ArrayBuffer>, algorithm: Uint8Array): Uint8Array<ArrayBuffer> {
  const elements = readSequence(bytes)
  assertAlgorithm(contentAt(elements, 0, tags.sequence), algorithm)
  return contentAt(elements, 1, tags.bitString).slice(1)
}

/** Reads the key in a `PrivateKeyInfo`, which must have this algorithm identifier. */
export function readPrivateKey(bytes: Uint8Array<ArrayBuffer>, algorithm: Uint8Array): Uint8Array<ArrayBuffer> {
  const elements = readSequence(bytes)
  assertAlgorithm(contentAt(elements, 1, tags.sequence), algorithm)
  return contentAt(elements, 2, tags.octetString)
}

export function writePublicKey(key: Uint8Array, algorithm: Uint8Array): Uint8Array<ArrayBuffer> {
  const bits = writeElement(tags.bitString, Uint8Array.of(0), key)
  return writeElement(tags.sequence, writeElement(tags.sequence, algorithm), bits)
}

export function writePrivateKey(key: Uint8Array, algorithm: Uint8Array): Uint8Array<ArrayBuffer> {
  const version = writeInteger(Uint8Array.of(0))
  return writeElement(
    tags.sequence,
    version,
    writeElement(tags.sequence, algorithm),
    writeElement(tags.octetString, key),
  )
}

function assertAlgorithm(found: Uint8Array, wanted: Uint8Array): void {
  if (!wanted.every((byte, index) => found[index] === byte)) throw dataError('The key belongs to another algorithm')
}

function malformed(): DOMException {
  return dataError('The key is not encoded in the given format')
}
