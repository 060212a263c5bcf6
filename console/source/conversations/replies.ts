import { ask } from '../api/ask.ts'
import { upload } from '../files/uploads.ts'

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

/** Days for which a sent file is kept, as those that visitors of the web chat send. */
const fileDays = 30

/**
 * Uploads a file of the bot with a public address, and sends that.
 *
 * @throws Failure
 * @throws Error when the upload has failed, of which a notice has the reason
 */
export async function sendFile(of: ReplyOf, content: File): Promise<void> {
  const { botId, conversationId, key } = of
  const id = await upload(botId, {
    // The key is hard to guess, and the same when the message is tried again.
    key: `conversations/${conversationId}/${key}/${content.name}`,
    content,
    index: false,
    isPublic: true,
    tags: { conversation: conversationId },
    expiresAt: new Date(Date.now() + fileDays * 86_400_000).toISOString(),
  })
  if (id === undefined) throw new Error('The file was not uploaded.')
  const { file } = await ask<'getFile'>('GET', `/files/${id}`, { botId })
  const kind = /^(image|audio|video)\//.exec(content.type)?.[1]
  if (kind === undefined) await send(of, 'file', { fileUrl: file.url, title: content.name })
  else await send(of, kind, { [`${kind}Url`]: file.url })
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
