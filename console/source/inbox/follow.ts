import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { followLines } from '../api/follow-lines.ts'
import { useGathered } from '../state/gathered.ts'

export type InboxLine = AnswerOf<'followInbox'>

/** Whether the live lines arrive; without them, pages ask for news more often. */
export const isFollowing = signal(false)

const lines = new EventTarget()

/** Follows the inbox while the page that calls it is open. */
export function useInboxLines(): void {
  useEffect(() => {
    const abort = new AbortController()
    void followLines<'followInbox'>('/handovers/follow', abort.signal, {
      onLine(line) {
        isFollowing.value = true
        lines.dispatchEvent(new CustomEvent('line', { detail: line }))
      },
      onLost: () => (isFollowing.value = false),
    })
    return () => {
      abort.abort()
      isFollowing.value = false
    }
  }, [])
}

/** Calls a function at each line, until the component is gone. @param key another one renews the function */
export function useOnInboxLine(onLine: (line: InboxLine) => void, key = ''): void {
  useEffect(() => {
    const pass = (event: Event) => onLine((event as CustomEvent<InboxLine>).detail)
    lines.addEventListener('line', pass)
    return () => lines.removeEventListener('line', pass)
  }, [key])
}

/** Reloads soon after each line that a function selects. @param key another one renews the function */
export function useReloadOnLine(reload: () => void, isNews: (line: InboxLine) => boolean, key = ''): void {
  const reloadSoon = useGathered(reload)
  useOnInboxLine((line) => {
    if (isNews(line)) reloadSoon()
  }, key)
}
