import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { ApiError } from '#shared/errors.ts'
import { FormFile, type FormBody } from '#shared/rpc/form-file.ts'

/** Upper bounds of a form: its parts, and the bytes of the head and of the text of each. */
const limits = { parts: 32, headerPairs: 16, headerSize: 4096, fieldSize: 256 * 1024 }

/**
 * Reads a form (RFC 7578). A field `name[]` is a list. Parts without a name are ignored.
 *
 * @param chunks of the body
 * @param type the `content-type` of the body
 * @throws ApiError `InvalidPayload`, `UnsupportedMediaType`
 */
export async function parseForm(
  chunks: readonly Buffer[],
  type: string,
  { fileField }: FormBody,
): Promise<Record<string, unknown>> {
  const reader = openReader(type, fileField)
  const fields = new Map<string, unknown>()
  const files: Promise<void>[] = []
  let problem: string | undefined
  const refuse = (message: string) => void (problem ??= message)

  const add = (name: string | undefined, value: string | FormFile) => {
    if (name === undefined) return
    if (name.endsWith('[]')) {
      const list = (fields.get(name.slice(0, -2)) as unknown[] | undefined) ?? []
      fields.set(name.slice(0, -2), [...list, value])
    } else if (fields.has(name)) refuse(`The form has the field '${name}' twice`)
    else fields.set(name, value)
  }
  reader.on('field', (name, text, _nameIsCut, isCut) => {
    if (isCut) refuse(`The field '${name}' has more than ${limits.fieldSize / 1024} KB, or no file name`)
    add(name, text)
  })
  reader.on('file', (name, content, fileName, _encoding, mediaType) => {
    const read = buffer(content).then((bytes) => add(name, new FormFile(fileName, mediaType, bytes)))
    // Where the form breaks off, the reader fails as well.
    read.catch(() => {})
    files.push(read)
  })
  reader.on('partsLimit', () => refuse(`The form has more than ${limits.parts} fields, the maximum`))

  /** Between chunks the event loop is free, and after a problem no more is read: 25 MB of parts take seconds. */
  async function* unhurried() {
    for (const chunk of chunks) {
      yield chunk
      await setImmediate()
      if (problem !== undefined) throw new ApiError('InvalidPayload', problem)
    }
  }

  try {
    await pipeline(Readable.from(unhurried()), reader)
    await Promise.all(files)
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ApiError('InvalidPayload', 'The form has no final boundary, or a part without a valid head', { cause })
  }
  if (problem !== undefined) throw new ApiError('InvalidPayload', problem)
  return Object.fromEntries(fields)
}

function openReader(type: string, fileField: string): BusboyInstance {
  const isFile = (name?: string, _type?: string, fileName?: string) => name === fileField && fileName !== undefined
  if (/^multipart\/form-data\b/i.test(type)) {
    try {
      return new Busboy({ headers: { 'content-type': type }, limits, isPartAFile: isFile })
    } catch {
      // It has no boundary.
    }
  }
  throw new ApiError('UnsupportedMediaType', 'Send a form: multipart/form-data with a boundary')
}
