import { createHash } from 'node:crypto'
import { isRecord } from '../models/payload.ts'

/** A body that is a form (multipart/form-data): its fields are texts, lists of them, and one file. */
export interface FormBody {
  /** The field that is a file. */
  fileField: string
  /** Of the whole body. */
  maxBytes: number
}

/** The file of a form, as every entry point passes it to the operation. */
export class FormFile {
  readonly name: string
  /** The media type that the sender gives; empty where it gives none. */
  readonly mediaType: string
  readonly bytes: Uint8Array

  constructor(name: string, mediaType: string, bytes: Uint8Array) {
    this.name = name
    this.mediaType = mediaType
    this.bytes = bytes
  }

  /** Inputs are compared and logged as JSON, in which the content is a hash. */
  toJSON(): object {
    const { name, mediaType, bytes } = this
    return { name, mediaType, sha256: createHash('sha256').update(bytes).digest('base64url') }
  }
}

/** A form that bot code sends, in which the file has crossed as `{ name, type, base64 }`. Other bodies stay as they are. */
export function formOfCode(body: unknown, { fileField }: FormBody): unknown {
  const file = isRecord(body) ? body[fileField] : undefined
  if (!isRecord(body) || !isRecord(file)) return body
  const text = (name: string) => (typeof file[name] === 'string' ? file[name] : '')
  return { ...body, [fileField]: new FormFile(text('name'), text('type'), Buffer.from(text('base64'), 'base64')) }
}
