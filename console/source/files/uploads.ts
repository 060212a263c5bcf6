import { signal } from '@preact/signals'
import { ask, wordsOfForeign, writeSeconds } from '../api/ask.ts'
import { notify } from '../state/notices.ts'

/** An upload that this page has begun and that has not ended. */
export interface Upload {
  id: number
  botId: string
  key: string
  /** From 0 to 1. */
  progress: number
  cancel(): void
}

/** The uploads of this page. They go on while other tabs of the bot are open. */
export const uploads = signal<Upload[]>([])

/** The properties of a new file. */
export interface NewFile {
  key: string
  content: File
  index: boolean
  isPublic: boolean
  tags: Record<string, string>
  /** When it is deleted; never unless given. */
  expiresAt?: string
}

let last = 0

/**
 * Creates a file, or replaces the one of that key, and sends its content. A failure is shown as a notice; the file that
 * was created for the content is deleted then.
 *
 * @returns the id of the file when the upload has ended, undefined when it has failed
 */
export async function upload(botId: string, newFile: NewFile): Promise<string | undefined> {
  const { key, content, index, isPublic, tags, expiresAt } = newFile
  const id = ++last
  const abort = new AbortController()
  uploads.value = [...uploads.value, { id, botId, key, progress: 0, cancel: () => abort.abort() }]
  let uploaded: string | undefined
  let created: string | undefined
  try {
    // Cancelling does not interrupt this request: the id of what it creates has to be known.
    const { file } = await ask<'upsertFile'>('PUT', '/files', {
      botId,
      // A file that was replaced meanwhile is not the one that is created here.
      isDistinct: true,
      body: {
        key,
        size: content.size,
        index,
        tags,
        ...(content.type && { contentType: content.type }),
        ...(isPublic && { accessPolicies: ['public_content'] }),
        ...(expiresAt && { expiresAt }),
      },
    })
    if (file.createdAt === file.updatedAt) created = file.id
    abort.signal.throwIfAborted()
    await sendContent(file.uploadUrl, content, abort.signal, (progress) => {
      uploads.value = uploads.value.map((one) => (one.id === id ? { ...one, progress } : one))
    })
    uploaded = file.id
    notify('good', `“${key}” is uploaded.`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    notify('bad', abort.signal.aborted ? `The upload of “${key}” is cancelled.` : `“${key}” is not uploaded: ${reason}`)
    // A file without content is of no use. Where this fails too, the list shows the file with its state.
    if (created !== undefined) await ask<'deleteFile'>('DELETE', `/files/${created}`, { botId }).catch(() => {})
  }
  uploads.value = uploads.value.filter((one) => one.id !== id)
  return uploaded
}

/**
 * Sends a content to an upload address: by XMLHttpRequest, because `fetch` reports no progress of uploads.
 *
 * @param report called with the part that is sent, from 0 to 1
 * @throws Error with the server's reason, or when the connection breaks or stands still
 */
export function sendContent(
  address: string,
  content: File,
  abort: AbortSignal,
  report: (progress: number) => void,
): Promise<void> {
  // The platform may be reached under several origins; the policy of this page allows its own.
  const { pathname, search } = new URL(address)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const request = new XMLHttpRequest()
  request.open('PUT', pathname + search)
  let hasStopped = false
  const giveUp = () => {
    hasStopped = true
    request.abort()
  }
  let timer = setTimeout(giveUp, writeSeconds * 1000)
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    clearTimeout(timer)
    timer = setTimeout(giveUp, writeSeconds * 1000)
    report(total > 0 ? loaded / total : 1)
  })
  request.addEventListener('loadend', () => clearTimeout(timer))
  request.addEventListener('load', () => (request.status < 300 ? resolve() : reject(new Error(messageOf(request)))))
  request.addEventListener('error', () => reject(new Error('The connection was lost')))
  request.addEventListener('abort', () =>
    reject(new Error(hasStopped ? `Nothing was sent or answered for ${writeSeconds} seconds` : 'Cancelled')),
  )
  abort.addEventListener('abort', () => request.abort())
  request.send(content)
  return promise
}

function messageOf(request: XMLHttpRequest): string {
  try {
    return (JSON.parse(request.responseText) as { message: string }).message
  } catch {
    return wordsOfForeign(request)
  }
}
