import { signal, type ReadonlySignal } from '@preact/signals'
import { ChatError, readError } from '../../../shared/chat-client/chat-error.ts'
import { sentFileName } from '../../../shared/chat-client/sent-file-name.ts'
import type { Ask } from './api.ts'
import { failureOf, type Failure } from './failure.ts'
import { isRefusal, newId, waitOf } from './outbox.ts'
import type { Payload } from './types.ts'

interface CreatedFile {
  id: string
  url: string
  uploadUrl: string
  contentType: string
}

/** A file on its way, or refused with the reason. */
interface Upload {
  name: string
  failure?: Failure
}

/**
 * Files of the visitor on their way. An interruption delays them, as it does texts; unlike texts, they do not survive the
 * document.
 */
export interface Uploads {
  readonly list: ReadonlySignal<Upload[]>
  /** Uploads files, and sends each as a message. */
  attach(files: File[]): Promise<void>
  /** Forgets the refused files. */
  dismissRefusals(): void
}

/** Answers of the platform that it has failed, after which a file is given up. A platform that is not reached is waited for. */
const maxFailures = 4
/** A connection that takes nothing for longer is gone, even where no error has said so. */
const silentMilliseconds = 30_000

/**
 * @param entered resolves with the visitor's conversation
 * @param visitor names the present visitor, if the site does
 * @param send sends a message of the conversation
 */
export function openUploads(
  ask: Ask,
  entered: () => Promise<string>,
  visitor: () => string | undefined,
  send: (payload: Payload, conversationId: string) => void,
): Uploads {
  const list = signal<Upload[]>([])
  const dismissRefusals = () => (list.value = list.value.filter(({ failure }) => failure === undefined))
  return {
    list,
    dismissRefusals,
    async attach(files) {
      // Refusals of an earlier choice are read by now; its files that are still on their way stay.
      dismissRefusals()
      // Shown at once: the conversation may have to wait for the network.
      const chosen = files.map((file): [File, Upload] => [file, { name: sentFileName(file.name) }])
      list.value = [...list.value, ...chosen.map(([, upload]) => upload)]
      const conversationId = await entered()
      const author = visitor()
      for (const [file, upload] of chosen) {
        const end = (...outcome: Upload[]) => {
          list.value = list.value.flatMap((other) => (other === upload ? outcome : other))
        }
        try {
          const payload = await untilStored(ask, file, conversationId)
          // Another visitor neither sends it nor is in its conversation.
          if (visitor() === author) send(payload, conversationId)
          end()
        } catch (error) {
          end({ ...upload, failure: failureOf(error) })
        }
      }
    },
  }
}

/**
 * Uploads a file of the visitor, again after each interruption.
 *
 * @returns the message with the file
 * @throws Error when the platform refuses it, or fails repeatedly
 */
async function untilStored(ask: Ask, file: File, conversationId: string): Promise<Payload> {
  const once = newId()
  let failures = 0
  for (let attempts = 1; ; attempts++) {
    try {
      return await store(ask, file, conversationId, once)
    } catch (error) {
      const isAnswer = error instanceof ChatError
      if (isRefusal(error) || (isAnswer && ++failures === maxFailures)) throw error
    }
    await pause(waitOf(attempts))
  }
}

/** Resolves after some time, or when the network returns. */
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      removeEventListener('online', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    addEventListener('online', end)
  })
}

const groups = new Set(['image', 'audio', 'video'])

/**
 * Uploads a file of the visitor.
 *
 * @param once the idempotency key of the file
 * @returns the message with the file
 * @throws ChatError when it is empty, or the platform refuses it or has failed, another error when it is unavailable
 */
async function store(ask: Ask, file: File, conversationId: string, once: string): Promise<Payload> {
  const name = sentFileName(file.name)
  if (file.size === 0) throw new ChatError({ type: 'EmptyFile', message: 'The file is empty' }, 400)
  const body = { key: name, size: file.size, tags: { conversation: conversationId } }
  const { file: created } = await ask<{ file: CreatedFile }>('POST', 'files', body, { once })
  // The platform's own address by the name under which it has served this frame, the only one that the policy allows.
  await put(new URL(created.uploadUrl).pathname, file)
  const group = created.contentType.split('/', 1)[0]!
  const type = groups.has(group) ? group : 'file'
  return { type, [`${type}Url`]: created.url, title: name, fileId: created.id }
}

/** Sends the content to its address: by XMLHttpRequest, because `fetch` does not tell whether a slow upload goes on. */
function put(path: string, file: File): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', path)
    let timer: ReturnType<typeof setTimeout>
    const listen = () => {
      clearTimeout(timer)
      timer = setTimeout(() => request.abort(), silentMilliseconds)
    }
    request.upload.addEventListener('progress', listen)
    request.addEventListener('loadend', () => {
      clearTimeout(timer)
      const { status } = request
      // An earlier attempt whose answer was lost has used the address.
      if (status === 200 || status === 409) resolve()
      else void readRefusal(request).then(reject)
    })
    listen()
    request.send(file)
  })
}

async function readRefusal({ status, responseText }: XMLHttpRequest): Promise<Error> {
  if (status === 0) return new Error('The connection is lost')
  const error = await readError(new Response(responseText, { status }))
  // A proxy in front of the platform refuses large files in its own words.
  const isOfProxy = !(error instanceof ChatError) && status < 500
  return isOfProxy
    ? new ChatError({ type: status === 413 ? 'PayloadTooLarge' : 'Refused', message: error.message }, status)
    : error
}
