import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/**
 * Scrolls an element to its end when its content or its size changes, unless the user has scrolled up.
 *
 * @param content another value for another content
 */
export function useStayAtEnd(content: unknown): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const container = element.current!
    const note = () => (isAtEnd.current = container.scrollHeight - container.scrollTop - container.clientHeight < 40)
    const resized = new ResizeObserver(() => {
      if (isAtEnd.current) container.scrollTop = container.scrollHeight
    })
    container.addEventListener('scroll', note)
    resized.observe(container)
    return () => {
      container.removeEventListener('scroll', note)
      resized.disconnect()
    }
  }, [])
  useEffect(() => {
    const container = element.current!
    if (isAtEnd.current) container.scrollTop = container.scrollHeight
  }, [content])
  return element
}
