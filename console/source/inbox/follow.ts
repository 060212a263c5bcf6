import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { Failure } from '../api/ask.ts'
import { linesOf } from '../api/lines.ts'

export type InboxLine = AnswerOf<'followInbox'>

/** Whether the live lines arrive; without them, pages ask for news more often. */
export const isFollowing = signal(false)

const lines = new EventTarget()

/** Longer than the time between two lines of a connection that is alive. */
const silentMilliseconds = 50_000
const maxPauseMilliseconds = 30_000

/** Follows the inbox while the page that calls it is open. Connections that end or fall silent are made again. */
export function useInboxLines(): void {
  useEffect(() => {
    const abort = new AbortController()
    void followUntil(abort.signal)
    return () => abort.abort()
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

/** Lines that come together cause one request, and a busy inbox one a second: a request that is under way would be given up. */
const togetherMilliseconds = 150
const betweenMilliseconds = 1000

/** Reloads soon after each line that a function selects. @param key another one renews the function */
export function useReloadOnLine(reload: () => void, isNews: (line: InboxLine) => boolean, key = ''): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const reloadedAt = useRef(0)
  useOnInboxLine((line) => {
    if (timer.current !== undefined || !isNews(line)) return
    const wait = Math.max(togetherMilliseconds, reloadedAt.current + betweenMilliseconds - Date.now())
    timer.current = setTimeout(() => {
      timer.current = undefined
      reloadedAt.current = Date.now()
      reload()
    }, wait)
  }, key)
  useEffect(() => () => clearTimeout(timer.current), [])
}

async function followUntil(abort: AbortSignal): Promise<void> {
  for (let failures = 0; !abort.aborted; failures++) {
    const silence = new AbortController()
    let timer = setTimeout(() => silence.abort(), silentMilliseconds)
    try {
      for await (const line of linesOf<'followInbox'>('/handovers/follow', AbortSignal.any([abort, silence.signal]))) {
        clearTimeout(timer)
        timer = setTimeout(() => silence.abort(), silentMilliseconds)
        failures = 0
        isFollowing.value = true
        lines.dispatchEvent(new CustomEvent('line', { detail: line }))
      }
    } catch (error) {
      // The role has changed: the page shows the refusal of the lists.
      if (error instanceof Failure && error.status === 403) break
    } finally {
      clearTimeout(timer)
    }
    isFollowing.value = false
    await pause(Math.min(maxPauseMilliseconds, 1000 * 2 ** failures) * (0.5 + Math.random() / 2), abort)
  }
  isFollowing.value = false
}

function pause(milliseconds: number, abort: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    abort.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
