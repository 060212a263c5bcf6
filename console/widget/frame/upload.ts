import { signal, type ReadonlySignal } from '@preact/signals'
import type { Ask } from './api.ts'
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
  failure?: string
}

/** Files of the visitor on their way. Unlike texts, they do not survive the document. */
export interface Uploads {
  readonly list: ReadonlySignal<Upload[]>
  /** Uploads files, and sends each as a message. */
  attach(files: Iterable<File>): Promise<void>
}

/**
 * @param entered resolves with the visitor's conversation
 * @param send sends a message, if the conversation is the present one
 */
export function openUploads(
  ask: Ask,
  entered: () => Promise<string>,
  send: (payload: Payload, conversationId: string) => void,
): Uploads {
  const list = signal<Upload[]>([])
  return {
    list,
    async attach(files) {
      // Refusals of an earlier choice are read by now; its files that are still on their way stay.
      list.value = list.value.filter(({ failure }) => failure === undefined)
      const conversationId = await entered()
      for (const file of files) {
        const upload: Upload = { name: file.name }
        const end = (...outcome: Upload[]) => {
          list.value = list.value.flatMap((other) => (other === upload ? outcome : other))
        }
        list.value = [...list.value, upload]
        try {
          send(await store(ask, file, conversationId), conversationId)
          end()
        } catch (error) {
          end({ name: file.name, failure: error instanceof Error ? error.message : '' })
        }
      }
    },
  }
}

const groups = new Set(['image', 'audio', 'video'])

/**
 * Uploads a file of the visitor.
 *
 * @returns the message with the file
 * @throws ChatError when the platform refuses it, another error when it is unavailable
 */
async function store(ask: Ask, file: File, conversationId: string): Promise<Payload> {
  const body = { key: file.name, size: file.size, tags: { conversation: conversationId } }
  const { file: created } = await ask<{ file: CreatedFile }>('POST', 'files', body)
  // The platform's own address by the name under which it has served this frame, the only one that the policy allows.
  const address = new URL(new URL(created.uploadUrl).pathname, location.origin)
  const answer = await fetch(address, { method: 'PUT', body: file })
  if (!answer.ok) throw new Error(String(answer.status))
  const group = created.contentType.split('/', 1)[0]!
  const type = groups.has(group) ? group : 'file'
  return { type, [`${type}Url`]: created.url, title: file.name, fileId: created.id }
}
