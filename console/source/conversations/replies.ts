import { sentFileName } from '../../../shared/chat-client/sent-file-name.ts'
import { ask } from '../api/ask.ts'
import { sendContent } from '../files/uploads.ts'

interface ReplyOf {
  botId: string
  conversationId: string
  /** The idempotency key of the message. */
  key: string
}

/** A new idempotency key. `crypto.randomUUID` is absent in pages without TLS. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Sends a text of the signed-in member, who has to be the member of the handover. @throws Failure */
export async function sendText(of: ReplyOf, text: string): Promise<void> {
  await send(of, 'text', { text })
}

/** Messages of files whose content has been sent, by the key of the message, so that another attempt sends the same. */
const uploaded = new Map<string, { type: string; payload: object }>()

/**
 * Uploads a file to the conversation, and sends its address. Of several attempts the user receives one.
 *
 * @throws Failure
 * @throws Error when the upload has failed
 */
export async function sendFile(of: ReplyOf, content: File): Promise<void> {
  const { botId, conversationId, key } = of
  const message = uploaded.get(key) ?? (await uploadTo(botId, conversationId, content))
  uploaded.set(key, message)
  await send(of, message.type, message.payload)
  uploaded.delete(key)
}

async function uploadTo(botId: string, conversationId: string, content: File) {
  const path = `/bots/${botId}/conversations/${encodeURIComponent(conversationId)}/files`
  const name = sentFileName(content.name)
  const body = { key: name, size: content.size }
  const { file } = await ask<'createConversationFile'>('POST', path, { body })
  await sendContent(file.uploadUrl, content, new AbortController().signal, () => {})
  const kind = /^(image|audio|video)\//.exec(file.contentType)?.[1] ?? 'file'
  return { type: kind, payload: { [`${kind}Url`]: file.url, title: name } }
}

/** Shows the user that the member types, or has stopped. It is repeated while the member does. */
export async function sendTyping(botId: string, conversationId: string, isTyping: boolean): Promise<void> {
  const path = `/bots/${botId}/conversations/${encodeURIComponent(conversationId)}/typing`
  await ask<'typeInConversation'>('POST', path, { body: { isTyping } })
}

async function send({ botId, conversationId, key }: ReplyOf, type: string, payload: object): Promise<void> {
  await ask('POST', `/bots/${botId}/conversations/${encodeURIComponent(conversationId)}/messages`, {
    body: { type, payload },
    idempotencyKey: key,
  })
}

/** Adds a note to a handover, for other members. @throws Failure */
export async function sendNote(botId: string, handoverId: string, idempotencyKey: string, text: string): Promise<void> {
  const path = `/bots/${botId}/handovers/${handoverId}/notes`
  await ask<'createHandoverNote'>('POST', path, { body: { text }, idempotencyKey })
}
