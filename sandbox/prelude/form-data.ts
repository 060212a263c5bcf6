import { Blob, concatenate, File } from './blob.ts'
import { decodeUtf8, encodeUtf8 } from './encoding.ts'
import { toText } from './text.ts'

type Value = string | File
type Entry = [string, Value]

/** The web's `FormData`. */
export class FormData {
  #entries: Entry[] = []

  constructor(form?: unknown) {
    if (form !== undefined) throw new TypeError('FormData accepts no HTML form here: append the values')
  }

  append(name: unknown, value: unknown, filename?: unknown): void {
    if (arguments.length < 2) throw new TypeError('FormData.append requires a name and a value')
    this.#entries.push(toEntry(name, value, filename))
  }

  set(name: unknown, value: unknown, filename?: unknown): void {
    if (arguments.length < 2) throw new TypeError('FormData.set requires a name and a value')
    const entry = toEntry(name, value, filename)
    const first = this.#entries.findIndex(([key]) => key === entry[0])
    if (first === -1) this.#entries.push(entry)
    else {
      this.#entries = this.#entries.filter(([key], index) => key !== entry[0] || index === first)
      this.#entries[first] = entry
    }
  }

  delete(name: unknown): void {
    const wanted = toText(name)
    this.#entries = this.#entries.filter(([key]) => key !== wanted)
  }

  get(name: unknown): Value | null {
    const wanted = toText(name)
    return this.#entries.find(([key]) => key === wanted)?.[1] ?? null
  }

  getAll(name: unknown): Value[] {
    const wanted = toText(name)
    return this.#entries.filter(([key]) => key === wanted).map(([, value]) => value)
  }

  has(name: unknown): boolean {
    const wanted = toText(name)
    return this.#entries.some(([key]) => key === wanted)
  }

  forEach(callback: (value: Value, name: string, form: FormData) => void, self?: unknown): void {
    for (const [name, value] of this.#list()) Reflect.apply(callback, self, [value, name, this])
  }

  entries(): Generator<Entry> {
    return this.#list()
  }

  /** Classes that derive from this one may replace all other methods. */
  *#list(): Generator<Entry> {
    for (let index = 0; index < this.#entries.length; index += 1) yield [...this.#entries[index]!]
  }

  *keys(): Generator<string> {
    for (const [name] of this.#list()) yield name
  }

  *values(): Generator<Value> {
    for (const [, value] of this.#list()) yield value
  }

  [Symbol.iterator](): Generator<Entry> {
    return this.#list()
  }

  get [Symbol.toStringTag](): string {
    return 'FormData'
  }
}

function toEntry(name: unknown, value: unknown, filename: unknown): Entry {
  const key = toText(name)
  if (!(value instanceof Blob)) {
    if (filename !== undefined) throw new TypeError('Only a Blob may have a file name')
    return [key, toText(value)]
  }
  if (value instanceof File && filename === undefined) return [key, value]
  const fileName = filename === undefined ? 'blob' : filename
  const lastModified = value instanceof File ? value.lastModified : Date.now()
  return [key, new File([value], fileName, { type: value.type, lastModified })]
}

/** Serializes a form as the body of a multipart request. */
export function writeMultipart(form: FormData, boundary: string): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = []
  for (const [name, value] of form) {
    const start = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(lines(name))}"`
    if (typeof value === 'string') parts.push(encodeUtf8(`${start}\r\n\r\n${lines(value)}`))
    else {
      const file = `; filename="${escapeName(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}`
      parts.push(encodeUtf8(`${start}${file}\r\n\r\n`), Blob.bytesOf(value))
    }
    parts.push(encodeUtf8('\r\n'))
  }
  parts.push(encodeUtf8(`--${boundary}--\r\n`))
  return concatenate(parts)
}

function lines(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '\r\n')
}

function escapeName(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}

/**
 * Parses the form in a body.
 *
 * @param type the `content-type` of the body
 * @throws TypeError when the body contains no form
 */
export function readForm(bytes: Uint8Array<ArrayBuffer>, type: string): FormData {
  const form = new FormData()
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
    for (const [name, value] of new URLSearchParams(decodeUtf8(bytes))) form.append(name, value)
    return form
  }
  const [, quoted, plain] = /^multipart\/form-data\b.*;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw new TypeError(`A body of the type '${type}' contains no form`)
  readMultipart(bytes, boundary, form)
  return form
}

function readMultipart(bytes: Uint8Array<ArrayBuffer>, boundary: string, form: FormData): void {
  const delimiter = encodeUtf8(`\r\n--${boundary}`)
  // The first delimiter may lack the preceding line break.
  const content = concatenate([encodeUtf8('\r\n'), bytes])
  let start = indexOf(content, delimiter, 0)
  for (;;) {
    const next = start === -1 ? -1 : indexOf(content, delimiter, start + delimiter.length)
    if (next === -1) break
    readPart(content.slice(start + delimiter.length, next), form)
    start = next
  }
  const isClosed = start !== -1 && decodeUtf8(content.slice(start + delimiter.length)).startsWith('--')
  if (!isClosed) throw new TypeError('The multipart body has no final boundary')
}

function readPart(part: Uint8Array<ArrayBuffer>, form: FormData): void {
  const end = indexOf(part, encodeUtf8('\r\n\r\n'), 0)
  const head = end === -1 ? '' : decodeUtf8(part.subarray(0, end))
  const disposition = /^content-disposition:\s*form-data;(.*)$/im.exec(head)?.[1]
  const name = disposition && parameter(disposition, 'name')
  if (disposition === undefined || name === undefined) throw new TypeError('A part of the multipart body has no name')
  const content = part.slice(end + 4)
  const filename = parameter(disposition, 'filename')
  if (filename === undefined) return form.append(name, decodeUtf8(content))
  const type = /^content-type:\s*(.*?)\s*$/im.exec(head)?.[1] ?? 'text/plain'
  form.append(name, new File([content], filename, { type }))
}

/** Reads a parameter of a disposition, quoted or not. @throws TypeError when the text is not a list of parameters */
function parameter(disposition: string, name: string): string | undefined {
  let found: string | undefined
  let end = 0
  for (const [all, key, quoted, plain] of disposition.matchAll(
    /;?[ \t]*([\w!#$%&'*+.^`|~-]+)=(?:"([^"]*)"|([^\s;"]*))[ \t]*/gy,
  )) {
    end += all.length
    if (found === undefined && key!.toLowerCase() === name) found = quoted ?? plain
  }
  if (!/^[ \t;]*$/.test(disposition.slice(end))) throw new TypeError('A part of the multipart body has no valid name')
  return found?.replace(/%0D|%0A|%22/gi, decodeURIComponent)
}

function indexOf(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  const first = wanted[0]!
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at
  }
  return -1
}
