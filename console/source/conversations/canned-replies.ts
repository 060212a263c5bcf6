import { allPages } from '../api/all-pages.ts'
import { ask } from '../api/ask.ts'
import type { CannedReply } from '../api/types.ts'

/** A slash before the caret, with the characters between them: a search for a canned reply. */
export interface Slash {
  /** Position of the slash in the text. */
  start: number
  search: string
}

/** Finds a slash that begins a word, with the caret in that word. */
export function slashBefore(text: string, caret: number): Slash | undefined {
  const before = text.slice(0, caret)
  const start = before.lastIndexOf('/')
  if (start < 0 || /\s/.test(before.slice(start)) || /\S/.test(before.slice(0, start).slice(-1))) return undefined
  return { start, search: before.slice(start + 1).toLowerCase() }
}

/** The replies that a search finds: first those whose shortcut begins with it, then those that have it anywhere. */
export function findReplies(replies: CannedReply[], search: string): CannedReply[] {
  const words = search.toLowerCase()
  const begins = replies.filter(({ shortcut }) => shortcut.startsWith(words))
  const contains = replies.filter(
    ({ shortcut, text }) =>
      !shortcut.startsWith(words) && (shortcut.includes(words) || text.toLowerCase().includes(words)),
  )
  return [...begins, ...contains]
}

/** The canned replies of the workspace, by shortcut. */
export async function loadCannedReplies(abort: AbortSignal): Promise<CannedReply[]> {
  const replies = await allPages(async (nextToken) => {
    const query = { pageSize: 100, nextToken }
    const page = await ask<'listCannedReplies'>('GET', '/canned-replies', { query, abort })
    return { items: page.cannedReplies, nextToken: page.meta.nextToken }
  })
  return replies.toSorted((one, other) => one.shortcut.localeCompare(other.shortcut))
}
