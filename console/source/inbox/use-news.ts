import { useEffect, useRef } from 'preact/hooks'
import { shortId } from '../format.ts'
import { to } from '../state/route.ts'
import { announce, type News } from './notifications.ts'
import type { Listed, Page } from './queues.ts'

/**
 * Announces what has come since the last look: conversations that wait, conversations that another member has assigned,
 * and messages of users to the member. The number of them is in the title of the window.
 *
 * @param first the first page of those that wait; undefined until it is loaded, like that of the member's
 * @param openId the conversation that the member sees while the page is visible
 */
export function useNews(first: Page | undefined, firstOfMine: Page | undefined, openId: string | undefined): void {
  const [waiting, mine] = [first?.handovers, firstOfMine?.handovers]
  const count = (waiting?.length ?? 0) + sum((mine ?? []).map((each) => unreadOf(each, openId)))
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}Inbox · Isobot`
  }, [count])
  useNewsOfQueue(first, openId)
  useNewsOfQueue(firstOfMine, openId)
}

/** A conversation that goes from one queue to another is news of the other, in whichever order the two are loaded. */
function useNewsOfQueue(first: Page | undefined, openId: string | undefined): void {
  /** The unread messages of each conversation at the last look. */
  const known = useRef<Map<string, number>>(undefined)
  /** The time of the last that waited on a page that others follow. */
  const lastOfMany = useRef<string>(undefined)
  useEffect(() => {
    if (!first) return
    const former = known.current
    const formerLast = lastOfMany.current
    known.current = new Map()
    lastOfMany.current = first.meta.nextToken === undefined ? undefined : first.handovers.at(-1)?.handover.createdAt
    for (const each of first.handovers) {
      const { id, conversationId, unreadCount, status, createdAt } = each.handover
      const isSeen = !document.hidden && conversationId === openId
      known.current.set(id, isSeen ? 0 : unreadCount)
      const before = former?.get(id)
      const isNew = before === undefined ? former !== undefined : status !== 'pending' && unreadCount > before
      // It has waited on the next page, for a place on this one.
      const hasMovedUp = status === 'pending' && formerLast !== undefined && createdAt > formerLast
      // A conversation that the member has taken over, or reads, is no news.
      if (isNew && !isSeen && !hasMovedUp) announce(newsOf(each, before === undefined), !document.hidden)
    }
  }, [first])
}

function unreadOf({ handover }: Listed, openId: string | undefined): number {
  return handover.conversationId === openId && !document.hidden ? 0 : handover.unreadCount
}

function newsOf({ bot, handover }: Listed, isFirst: boolean): News {
  const { id, user, title, status, conversationId, unreadCount } = handover
  const name = user?.name ?? shortId(user?.id ?? conversationId)
  const action = !isFirst ? 'has written' : status === 'pending' ? 'waits for a person' : 'is assigned to you'
  return {
    id: `${id} ${status} ${unreadCount}`,
    title: `${name} ${action}`,
    text: [title, bot.name].filter(Boolean).join(' · '),
    href: to('inbox', bot.id, conversationId),
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
