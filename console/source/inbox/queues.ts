import { useEffect, useRef } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { ask, type Query } from '../api/ask.ts'
import { timesRead } from '../conversations/use-mark-read.ts'
import { useFurtherPages } from '../state/further-pages.ts'
import { useResource, type Resource } from '../state/resource.ts'
import { membership } from '../state/session.ts'
import { isFollowing, useReloadOnLine, type InboxLine } from './follow.ts'

export type Page = AnswerOf<'listWorkspaceHandovers'>
export type Listed = Page['handovers'][number]

/** The queues of the inbox, with what they say when they are empty. */
export const queues = [
  { name: 'waiting', label: 'Waiting', nothing: 'No conversation waits for a person.' },
  { name: 'mine', label: 'Mine', nothing: 'You answer in no conversation.' },
  { name: 'open', label: 'All open', nothing: 'No conversation is handed over.' },
  { name: 'ended', label: 'Resolved', nothing: 'No handover has ended yet.' },
] as const

export type Queue = (typeof queues)[number]
export type QueueName = Queue['name']

const pageSize = 100

export interface OpenQueue {
  first: Resource<Page>
  listed: Listed[]
  /** Loads the next page; absent when all are loaded. */
  loadMore: (() => Promise<void>) | undefined
  isLoadingMore: boolean
}

/** How often the queues are asked for news: less where the live lines tell of them. */
const everyMilliseconds = 3000
const everyMillisecondsLive = 30_000

/**
 * The handovers of a queue, with news.
 *
 * @param name undefined loads nothing
 * @param text a search; empty for all
 * @param whileHidden whether news are wanted while the page is hidden
 */
export function useQueue(name: QueueName | undefined, text: string, whileHidden = false): OpenQueue {
  const query = { ...(name && filterOf(name)), text }
  const key = `handovers ${JSON.stringify(query)}`
  const load = (nextToken?: string, abort?: AbortSignal) =>
    ask<'listWorkspaceHandovers'>('GET', '/handovers', {
      query: { ...query, pageSize, nextToken },
      ...(abort && { abort }),
    })
  const isReady = name !== undefined && (name !== 'mine' || membership.value !== undefined)
  const first = useResource(isReady ? key : undefined, (abort) => load(undefined, abort), {
    every: isFollowing.value ? everyMillisecondsLive : everyMilliseconds,
    whileHidden,
  })
  const isNews = ({ type }: InboxLine) => isReady && (type === 'handover' || type === 'message' || type === 'ready')
  useReloadOnLine(first.reload, isNews, String(isReady))
  const counted = useRef(timesRead.value)
  useEffect(() => {
    if (counted.current !== timesRead.value) first.reload()
    counted.current = timesRead.value
  }, [timesRead.value])
  const further = useFurtherPages(key, load)
  const pages = first.data ? [first.data, ...further.pages] : []
  const nextToken = pages.at(-1)?.meta.nextToken
  return {
    first,
    listed: withoutRepeats(pages.flatMap(({ handovers }) => handovers)),
    loadMore: nextToken === undefined ? undefined : () => further.load(nextToken),
    isLoadingMore: further.isBusy,
  }
}

function filterOf(name: QueueName): Query {
  switch (name) {
    case 'waiting':
      return { status: 'pending' }
    case 'mine':
      return { status: 'open', memberId: membership.value?.id }
    case 'open':
    case 'ended':
      return { status: name }
  }
}

/** Keeps the newest entry of a handover that a later page has again. */
function withoutRepeats(listed: Listed[]): Listed[] {
  return [...new Map(listed.toReversed().map((each) => [each.handover.id, each])).values()].toReversed()
}
