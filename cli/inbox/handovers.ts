import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection, Query } from '../connection.ts'
import { didYouMean } from '#shared/did-you-mean.ts'
import { failed, misused } from '../failure.ts'

export type ListedHandover = AnswerOf<'listWorkspaceHandovers'>['handovers'][number]
export type Note = AnswerOf<'listHandoverNotes'>['notes'][number]

/** A conversation of a bot. */
export interface ConversationKey {
  bot: { id: string }
  conversationId: string
}

/** A handover of a bot. */
export interface HandoverKey extends ConversationKey {
  id: string
}

/** The handovers in all bots of the workspace that pass a filter. */
export async function listHandovers({ list }: Connection, query: Query, limit?: number): Promise<ListedHandover[]> {
  return Array.fromAsync(list('/v1/admin/handovers', 'handovers', { query, ...(limit !== undefined && { limit }) }))
}

/**
 * Finds the handover in progress with an id, or that of the conversation with the id.
 * @throws Failure when there is none
 */
export async function findHandover(connection: Connection, given: string): Promise<HandoverKey> {
  const found = await listHandovers(connection, { text: given })
  // A search also finds texts: the id has to be equal.
  const one = found.find(({ handover: { id, conversationId } }) => id === given || conversationId === given)
  if (one) return { bot: one.bot, id: one.handover.id, conversationId: one.handover.conversationId }
  throw failed(
    `No handover in progress has the id or the conversation "${given}". \`isobot inbox list\` shows those in progress`,
    { type: 'ResourceNotFound' },
  )
}

export function conversationPath({ bot, conversationId }: ConversationKey): string {
  return `/v1/admin/bots/${bot.id}/conversations/${encodeURIComponent(conversationId)}`
}

export function handoverPath({ bot, id }: HandoverKey): string {
  return `/v1/admin/bots/${bot.id}/handovers/${id}`
}

/** The notes of a handover, the oldest first. */
export async function listNotes({ list }: Connection, handover: HandoverKey): Promise<Note[]> {
  const notes = await Array.fromAsync(list<Note>(`${handoverPath(handover)}/notes`, 'notes'))
  return notes.toReversed()
}

/** @param memberId null lets the handover wait for a member */
export async function assign(
  { ask }: Connection,
  handover: HandoverKey,
  memberId: string | null,
): Promise<AnswerOf<'assignHandover'>> {
  return ask<'assignHandover'>('PUT', `${handoverPath(handover)}/member`, { body: { memberId } })
}

/**
 * Finds a member who may answer, by the id of the account or by name.
 * @throws Failure when no member or more than one has that name
 */
export async function findMember({ ask }: Connection, idOrName: string) {
  const { members } = await ask<'listPresence'>('GET', '/v1/admin/presence')
  const byId = members.find(({ id }) => id === idOrName)
  if (byId) return byId
  const named = members.filter(({ name }) => name.toLowerCase() === idOrName.toLowerCase())
  if (named.length > 1) {
    const ids = named.map(({ id }) => `  ${id}`).join('\n')
    throw misused(`${named.length} members have the name "${idOrName}": name one by the id\n${ids}`)
  }
  if (named[0]) return named[0]
  const names = members.map(({ name }) => name)
  const near = didYouMean(idOrName, names)
  throw failed(
    `No member with the name or id "${idOrName}" may answer${near === undefined ? '' : `; did you mean "${near}"?`}`,
    { type: 'ResourceNotFound' },
  )
}
