import { useEffect, useRef } from 'preact/hooks'

/** Calls that come together become one, and many become one a second: a request that is under way would be given up. */
const togetherMilliseconds = 150
const betweenMilliseconds = 1000

/** A function that calls another one soon, at most once a second. */
export function useGathered(act: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const actedAt = useRef(0)
  const latest = useRef(act)
  latest.current = act
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    if (timer.current !== undefined) return
    const wait = Math.max(togetherMilliseconds, actedAt.current + betweenMilliseconds - Date.now())
    timer.current = setTimeout(() => {
      timer.current = undefined
      actedAt.current = Date.now()
      latest.current()
    }, wait)
  }
}
