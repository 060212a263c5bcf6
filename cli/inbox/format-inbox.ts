import { maxUnread } from '#shared/models/handover.ts'
import { inOneLine, localTime, styled, table, withoutControlCharacters } from '../output.ts'
import type { ListedHandover, Note } from './handovers.ts'

const headings = ['CREATED', 'ID', 'STATUS', 'UNREAD', 'BOT', 'USER', 'MEMBER', 'TITLE']

/** Handovers as a table for people. */
export function formatHandovers(handovers: readonly ListedHandover[]): string {
  if (handovers.length === 0) return 'There are none'
  const rows = handovers.map(({ bot, handover: { createdAt, id, status, unreadCount, user, member, title } }) => [
    localTime(createdAt),
    id,
    status,
    unreadCount === maxUnread ? `${maxUnread}+` : String(unreadCount),
    bot.name,
    user?.name ?? user?.id ?? '',
    member?.name ?? '',
    title ?? '',
  ])
  return table(headings, rows)
}

/** The notes of a handover below its transcript; nothing where there are none. */
export function formatNotes(notes: readonly Note[]): string {
  const lines = notes.map(({ createdAt, author, text }) => {
    const name = inOneLine(author.name)
    return `${styled('dim', localTime(createdAt))}  ${styled('bold', `note of ${name}`)}: ${withoutControlCharacters(text)}`
  })
  return lines.map((line) => `\n${line}`).join('')
}
