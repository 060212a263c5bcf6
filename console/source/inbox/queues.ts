import { useEffect, useRef, useState } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { ask, type Query } from '../api/ask.ts'
import { timesRead } from '../conversations/use-mark-read.ts'
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
  /** The pages that are loaded. */
  pages: Resource<Page[]>
  first: Page | undefined
  listed: Listed[]
  /** Loads the next page; absent when all are loaded. */
  loadMore: (() => void) | undefined
  isLoadingMore: boolean
}

/** How often the queues are asked for news: less where the live lines tell of them. */
const everyMilliseconds = 3000
const everyMillisecondsLive = 30_000

/**
 * The handovers of a queue, with news: all pages that are loaded are asked for them, for members take handovers of any page,
 * and new ones come at the end of those that wait.
 *
 * @param name undefined loads nothing
 * @param text a search; empty for all
 * @param whileHidden whether news are wanted while the page is hidden
 */
export function useQueue(name: QueueName | undefined, text: string, whileHidden = false): OpenQueue {
  const query = { ...(name && filterOf(name)), text }
  const key = `handovers ${JSON.stringify(query)}`
  const [wanted, setWanted] = useState({ key, pages: 1 })
  const wantedPages = wanted.key === key ? wanted.pages : 1
  const load = async (abort: AbortSignal): Promise<Page[]> => {
    const loaded: Page[] = []
    let nextToken: string | undefined
    do {
      const page: Page = await ask<'listWorkspaceHandovers'>('GET', '/handovers', {
        query: { ...query, pageSize, nextToken },
        abort,
      })
      loaded.push(page)
      nextToken = page.meta.nextToken
    } while (nextToken !== undefined && loaded.length < wantedPages)
    return loaded
  }
  const isReady = name !== undefined && (name !== 'mine' || membership.value !== undefined)
  const resource = useResource(isReady ? key : undefined, load, {
    every: isFollowing.value ? everyMillisecondsLive : everyMilliseconds,
    whileHidden,
  })
  const isNews = ({ type }: InboxLine) => isReady && (type === 'handover' || type === 'message' || type === 'ready')
  useReloadOnLine(resource.reload, isNews, String(isReady))
  const counted = useRef(timesRead.value)
  useEffect(() => {
    if (counted.current !== timesRead.value) resource.reload()
    counted.current = timesRead.value
  }, [timesRead.value])
  const pages = resource.data ?? []
  const nextToken = pages.at(-1)?.meta.nextToken
  const loadMore = () => {
    setWanted({ key, pages: pages.length + 1 })
    resource.reload()
  }
  return {
    pages: resource,
    first: pages[0],
    listed: pages.flatMap(({ handovers }) => handovers),
    loadMore: nextToken === undefined ? undefined : loadMore,
    isLoadingMore: wantedPages > pages.length && nextToken !== undefined && resource.error === undefined,
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
