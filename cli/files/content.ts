import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { refusedByProxy } from '../answer-failures.ts'
import { failed, misused, unreachable } from '../failure.ts'
import { writeContent } from '../write-content.ts'

/** The content of an upload. */
export interface Content extends AsyncDisposable {
  /** The key of its file. */
  key: string
  /** In bytes; undefined for standard input. */
  size: number | undefined
  stream: Readable
}

/** Opens a file, or standard input for `-`, so that one that cannot be read changes nothing on the platform. */
export async function openContent(path: string, key: string | undefined): Promise<Content> {
  if (path === '-') {
    if (key === undefined) throw misused('Standard input has no name: give the file one with --key')
    return { key, size: undefined, stream: process.stdin, async [Symbol.asyncDispose]() {} }
  }
  try {
    const file = await open(path)
    const { size } = await file.stat()
    // It has no more bytes than are announced, even if the file grows meanwhile.
    const stream = size === 0 ? Readable.from([]) : file.createReadStream({ end: size - 1, autoClose: false })
    return { key: key ?? basename(path), size, stream, [Symbol.asyncDispose]: () => file.close() }
  } catch (cause) {
    throw failed(`${path} cannot be read: ${wordsOf(cause)}`, { cause })
  }
}

/** Sends a content to the address that an upsert has given. @throws Failure */
export async function sendContent(url: string, contentType: string, { size, stream }: Content): Promise<void> {
  const headers = { 'content-type': contentType, ...(size !== undefined && { 'content-length': String(size) }) }
  const body = Readable.toWeb(stream) as ReadableStream<Uint8Array>
  const response = await reach(url, { method: 'PUT', headers, body, duplex: 'half' })
  if (!response.ok) throw await refusal(response)
  await response.body?.cancel()
}

/** Where a download goes unless a path is given: the last part of the key, in the current folder. */
export function defaultPath(key: string): string {
  const name = key.slice(key.lastIndexOf('/') + 1)
  // Keys are chosen by users of bots: a name that could be read as a path, or as an option, is not one.
  return name.replaceAll(/[\\:\p{Cc}]/gu, '_').replace(/^[.-]+/, '_') || 'file'
}

/** Writes the content of a file to a path, or to standard output for `-`. An interrupted download leaves no file there. */
export async function saveContent(
  { key, url, size }: { key: string; url: string; size: number | null },
  path: string,
): Promise<void> {
  if (size === null) throw failed(`The content of ${key} has not been uploaded yet`)
  const response = await reach(url, {})
  if (!response.ok || !response.body) throw await refusal(response)
  const content = Readable.fromWeb(response.body)
  if (path === '-') return writeContent(content, path)
  try {
    await writeContent(content, path)
  } catch (cause) {
    throw failed(`Downloading ${key} to ${path} failed: ${wordsOf(cause)}`, { cause })
  }
}

/** There is no limit of time: a large content takes long. */
async function reach(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request)
  } catch (cause) {
    const { origin } = new URL(url)
    const reason = cause instanceof Error ? (cause.cause ?? cause) : cause
    throw unreachable(
      `Contents of files are at ${origin}, which cannot be reached (${wordsOf(reason)}): is that ISOBOT_BASE_URL of the platform?`,
      { cause, type: 'Unreachable' },
    )
  }
}

async function refusal(response: Response): Promise<Error> {
  const text = await response.text()
  try {
    const { message, type } = JSON.parse(text) as { message: string; type: string }
    return failed(message, { type, details: { status: response.status } })
  } catch {
    const { status, url } = response
    const answer = { status, text, largest: 'that of the largest file' }
    return (
      refusedByProxy({ url: new URL(url).origin }, answer) ??
      failed(`The content was refused: ${status} ${text.slice(0, 200)}`)
    )
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
