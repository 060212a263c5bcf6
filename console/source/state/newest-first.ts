import { useEffect, useRef, useState } from 'preact/hooks'
import { explain } from '../api/ask.ts'
import { isBefore, type Moment } from '../conversations/messages.ts'
import type { FurtherPages } from './further-pages.ts'
import { notify } from './notices.ts'
import { keep, kept, useResource, type Resource } from './resource.ts'

/** A page of a list that begins with the newest entry, or several pages as one. */
export interface NewestFirst<Entry> {
  entries: Entry[]
  nextToken: string | undefined
  /** The time back to which a search has looked without filling its page. */
  searchedUntil?: string | undefined
}

interface Options<Entry> {
  load: (abort: AbortSignal | undefined, nextToken?: string) => Promise<NewestFirst<Entry>>
  /** The moment by which an entry has its place in the list. */
  momentOf: (entry: Entry) => Moment
  /** Milliseconds between an answer and the next request for the newest page; without it there is one answer. */
  every?: number
}

interface Pages<Entry> {
  key: string
  newest?: NewestFirst<Entry>
  /** The pages after the newest one, once one of them was asked for. */
  older?: NewestFirst<Entry>
}

/**
 * A list whose newest page is loaded again and again, with the older ones that are loaded on demand. Entries that newer
 * ones push out of the newest page become older ones. Where so many came that the newest page does not reach those that
 * are loaded, these are dropped, because the list would have a gap.
 *
 * @param key identifies the list
 */
export function useNewestFirst<Entry extends { id: string }>(
  key: string,
  { load, momentOf, every }: Options<Entry>,
): { list: Resource<NewestFirst<Entry>>; older: Pick<FurtherPages<unknown>, 'isBusy' | 'load'> } {
  const [isBusy, setIsBusy] = useState(false)
  const pages = useRef<Pages<Entry>>(keptPages(key))
  if (pages.current.key !== key) pages.current = keptPages(key)
  const isGone = useRef(false)
  useEffect(() => () => void (isGone.current = true), [])
  const hold = (next: Pages<Entry>) => {
    pages.current = next
    if (!isGone.current) keep(`pages of ${next.key}`, next)
  }
  const loadNewest = async (abort: AbortSignal) => {
    const newest = await load(abort)
    if (!abort.aborted) hold(withNewest(pages.current, newest, momentOf))
    return newest
  }
  const resource = useResource(key, loadNewest, every === undefined ? {} : { every })
  const newest = pages.current.newest ?? resource.data
  const loadOlder = async (nextToken: string) => {
    setIsBusy(true)
    // From now on it has what is pushed out of the newest page.
    hold({ key, newest: newest!, older: pages.current.older ?? { ...newest!, entries: [] } })
    try {
      const page = await load(undefined, nextToken)
      const { key: present, older } = pages.current
      // It may have been dropped meanwhile.
      if (present === key && older?.nextToken === nextToken) {
        hold({ ...pages.current, older: { ...page, entries: [...older.entries, ...page.entries] } })
      }
    } catch (error) {
      notify('bad', explain(error))
    } finally {
      setIsBusy(false)
    }
  }
  return {
    list: { ...resource, data: newest && joined(newest, pages.current.older) },
    older: { isBusy, load: loadOlder },
  }
}

/** The pages that the list had when its page was left: closing one of its entries leads to all of them. */
function keptPages<Entry>(key: string): Pages<Entry> {
  return (kept(`pages of ${key}`) as Pages<Entry> | undefined) ?? { key }
}

function withNewest<Entry>(
  { key, newest: former, older }: Pages<Entry>,
  newest: NewestFirst<Entry>,
  momentOf: (entry: Entry) => Moment,
): Pages<Entry> {
  const { entries, nextToken, searchedUntil } = newest
  const ids = new Set(entries.map((entry) => momentOf(entry).id))
  const isIn = (entry: Entry) => ids.has(momentOf(entry).id)
  const last = entries.at(-1)
  const end = searchedUntil === undefined ? last && momentOf(last) : { id: '', createdAt: searchedUntil }
  if (!former || !older || !end || nextToken === undefined) return { key, newest }
  // A search that has not filled its page has looked further back than entries come between two requests.
  const hasGap = searchedUntil === undefined && ![...former.entries, ...older.entries].some(isIn)
  if (hasGap) return { key, newest }
  const pushedOut = former.entries.filter((entry) => !isIn(entry) && isBefore(momentOf(entry), end))
  return { key, newest, older: { ...older, entries: [...pushedOut, ...older.entries] } }
}

/** An entry that has moved up since its page was loaded is there once, as it is now. */
function joined<Entry extends { id: string }>(
  newest: NewestFirst<Entry>,
  older: NewestFirst<Entry> | undefined,
): NewestFirst<Entry> {
  if (!older) return newest
  const entries = [...newest.entries, ...older.entries]
  const first = new Map(entries.toReversed().map((entry) => [entry.id, entry]))
  return { ...older, entries: entries.filter((entry) => first.get(entry.id) === entry) }
}
