import type { Payload } from './types.ts'

interface CreatedFile {
  id: string
  url: string
  uploadUrl: string
  contentType: string
}

/** Files that one message field takes at once. */
export const maxFiles = 8

const groups = new Set(['image', 'audio', 'video'])

/**
 * Uploads a file of the visitor.
 *
 * @param ask calls an operation of the web chat
 * @returns the message with the file
 * @throws ChatError when the platform refuses it, another error when it is unavailable
 */
export async function upload(
  ask: <Answer>(method: 'POST', path: string, body: object) => Promise<Answer>,
  file: File,
  conversationId: string,
): Promise<Payload> {
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
