import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection } from '../connection.ts'
import { sendContent, type Content } from './content.ts'

export type BotFile = AnswerOf<'getFile'>['file']

/** The newest files of a bot that have all of these tags. */
export async function listFiles(
  { list }: Connection,
  botId: string,
  tags: Record<string, string>,
  limit: number,
): Promise<BotFile[]> {
  const query = { tags: JSON.stringify(tags) }
  return Array.fromAsync(list<BotFile>('/v1/files', 'files', { query, botId, limit }))
}

/** @throws Failure when the bot has no such file */
export async function getFile({ ask }: Connection, botId: string, idOrKey: string): Promise<BotFile> {
  return (await ask<'getFile'>('GET', pathOf(idOrKey), { botId })).file
}

export async function deleteFile({ ask }: Connection, botId: string, id: string): Promise<void> {
  await ask('DELETE', pathOf(id), { botId })
}

/** Upserts a file and sends its content. @returns it as it is then */
export async function uploadFile(
  connection: Connection,
  botId: string,
  content: Content,
  fields: Record<string, unknown>,
): Promise<BotFile> {
  const body = { ...fields, key: content.key, size: content.size ?? 0 }
  const { file } = await connection.ask<'upsertFile'>('PUT', '/v1/files', { body, botId })
  await sendContent(file.uploadUrl, file.contentType, content)
  return getFile(connection, botId, file.id)
}

const pollMilliseconds = 250

/** Waits until a file is indexed, or the indexing has failed. */
export async function untilIndexed(
  connection: Connection,
  botId: string,
  uploaded: BotFile,
  deadline: number,
): Promise<BotFile> {
  let file = uploaded
  while (file.status === 'indexing_pending' && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds))
    file = await getFile(connection, botId, file.id)
  }
  return file
}

/** A size for people; empty when it is not known yet. */
export function sizeOf(bytes: number | null): string {
  if (bytes === null) return ''
  if (bytes < 10_000) return `${bytes} B`
  return bytes < 10_000_000 ? `${Math.round(bytes / 1024)} KB` : `${Math.round(bytes / 1024 ** 2)} MB`
}

function pathOf(idOrKey: string): string {
  return `/v1/files/${encodeURIComponent(idOrKey)}`
}
