import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection, Query } from '../connection.ts'

export type ConversationSummary = AnswerOf<'listBotConversations'>['conversations'][number]
export type Message = AnswerOf<'listBotConversationMessages'>['messages'][number]

/** A conversation with its newest messages, the oldest of them first. */
export type Transcript = AnswerOf<'getBotConversation'> & { messages: Message[] }

const maxPageSize = 100

/** The conversations of a bot that pass a filter, those with the newest messages first. */
export async function listConversations(
  connection: Connection,
  botId: string,
  filter: Query,
  limit: number,
): Promise<ConversationSummary[]> {
  return pages<'listBotConversations', ConversationSummary>(
    connection,
    `/v1/admin/bots/${botId}/conversations`,
    filter,
    limit,
    ({ conversations }) => conversations,
  )
}

/** @throws Failure when the bot has no such conversation */
export async function readTranscript(
  connection: Connection,
  botId: string,
  id: string,
  limit: number,
): Promise<Transcript> {
  const path = `/v1/admin/bots/${botId}/conversations/${encodeURIComponent(id)}`
  const found = await connection.ask<'getBotConversation'>('GET', path)
  const { reading } = found
  const messages = await pages<'listBotConversationMessages', Message>(
    connection,
    `${path}/messages`,
    { reading },
    limit,
    ({ messages }) => messages,
  )
  return { ...found, messages: messages.toReversed() }
}

/** Reads pages as one reading, of which the audit log has one record. */
async function pages<Name extends 'listBotConversations' | 'listBotConversationMessages', Row>(
  { ask }: Connection,
  path: string,
  filter: Query,
  limit: number,
  rowsOf: (answer: AnswerOf<Name>) => Row[],
): Promise<Row[]> {
  const rows: Row[] = []
  let more: Query = {}
  do {
    const query = { ...filter, ...more, pageSize: Math.min(limit - rows.length, maxPageSize) }
    const answer = await ask<Name>('GET', path, { query })
    rows.push(...rowsOf(answer))
    const { reading, meta } = answer as AnswerOf<'listBotConversationMessages'>
    more = { ...(reading !== undefined && { reading }), nextToken: meta.nextToken }
  } while (more['nextToken'] !== undefined && rows.length < limit)
  return rows
}
