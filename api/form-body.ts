import { ApiError } from '#shared/errors.ts'
import { FormFile, type FormBody } from '#shared/rpc/form-file.ts'

/** Upper bounds of a form: its parts, and the bytes of the head and of the text of each. */
const maxParts = 32
const maxHeadBytes = 4096
const maxTextBytes = 256 * 1024

const lineBreak = '\r\n'

/**
 * Reads a form (RFC 7578). Node's own parser bounds neither the parts nor their heads, and copies a file several times; the file of
 * this one is a part of the body. A field `name[]` is a list.
 *
 * @param type the `content-type` of the body
 * @throws ApiError `InvalidPayload`, `UnsupportedMediaType`
 */
export function parseForm(bytes: Buffer, type: string, { fileField }: FormBody): Record<string, unknown> {
  const fields = new Map<string, unknown>()
  for (const part of partsOf(bytes, boundaryOf(type))) {
    const { name, fileName, mediaType, content } = readPart(part)
    if (name.endsWith('[]')) {
      const list = (fields.get(name.slice(0, -2)) as string[] | undefined) ?? []
      fields.set(name.slice(0, -2), [...list, textOf(name, content)])
      continue
    }
    if (fields.has(name)) throw invalid(`The form has the field '${name}' twice`)
    const isFile = name === fileField && fileName !== undefined
    fields.set(name, isFile ? new FormFile(fileName, mediaType, content) : textOf(name, content))
  }
  return Object.fromEntries(fields)
}

function boundaryOf(type: string): string {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary !== undefined) return boundary
  throw new ApiError('UnsupportedMediaType', 'Send a form: multipart/form-data with a boundary')
}

function* partsOf(bytes: Buffer, boundary: string): Generator<Buffer> {
  const first = `--${boundary}`
  const delimiter = `${lineBreak}${first}`
  // The first delimiter may lack the line break before it.
  let end = bytes.subarray(0, first.length).equals(Buffer.from(first))
    ? first.length
    : afterDelimiter(bytes, delimiter, 0)
  for (let count = 0; ; count++) {
    if (bytes.subarray(end, end + 2).equals(Buffer.from('--'))) return
    if (count === maxParts) throw invalid(`The form has more than ${maxParts} fields, the maximum`)
    const begin = end
    end = afterDelimiter(bytes, delimiter, begin)
    yield bytes.subarray(begin, end - delimiter.length)
  }
}

function afterDelimiter(bytes: Buffer, delimiter: string, from: number): number {
  const at = bytes.indexOf(delimiter, from)
  if (at === -1) throw invalid('The form has no final boundary')
  return at + delimiter.length
}

interface Part {
  name: string
  fileName: string | undefined
  mediaType: string
  content: Buffer
}

function readPart(part: Buffer): Part {
  const emptyLine = `${lineBreak}${lineBreak}`
  const end = part.subarray(0, maxHeadBytes).indexOf(emptyLine)
  if (end === -1) throw invalid('A field of the form has no head, or one that is too long')
  const head = part.subarray(0, end).toString()
  const [, disposition = ''] = /^content-disposition:[ \t]*form-data[ \t]*;(.*)$/im.exec(head) ?? []
  const name = parameterOf(disposition, 'name')
  if (name === undefined || name === '') throw invalid('A field of the form has no name')
  const [, mediaType = ''] = /^content-type:[ \t]*([^\s;]*)/im.exec(head) ?? []
  const content = part.subarray(end + emptyLine.length)
  return { name, fileName: parameterOf(disposition, 'filename'), mediaType, content }
}

function parameterOf(disposition: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|;)[ \\t]*${name}=(?:"([^"]*)"|([^\\s;"]*))`, 'i').exec(disposition)
  const value = found?.[1] ?? found?.[2]
  return value?.replace(/%0D|%0A|%22/gi, decodeURIComponent)
}

function textOf(name: string, content: Buffer): string {
  if (content.length <= maxTextBytes) return content.toString()
  throw invalid(`The field '${name}' of the form has more than ${maxTextBytes / 1024} KB, or no file name`)
}

function invalid(message: string): ApiError {
  return new ApiError('InvalidPayload', message)
}
