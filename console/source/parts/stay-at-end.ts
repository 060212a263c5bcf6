import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Distance from the end at which a reader still follows new content. */
const nearPixels = 40
const mediaEvents = ['load', 'loadedmetadata']

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
    let position = container.scrollTop
    const note = () => {
      const { scrollTop, scrollHeight, clientHeight } = container
      if (scrollHeight - scrollTop - clientHeight < nearPixels) isAtEnd.current = true
      // Content that arrives during a scroll to the end, or a picture that grows, is no reason to stop: a reader goes back.
      else if (scrollTop < position) isAtEnd.current = false
      position = scrollTop
    }
    const toEnd = () => {
      if (isAtEnd.current) container.scrollTop = container.scrollHeight
    }
    const resized = new ResizeObserver(toEnd)
    container.addEventListener('scroll', note)
    // Pictures and films get their size when they are loaded. These events do not bubble.
    for (const name of mediaEvents) container.addEventListener(name, toEnd, true)
    resized.observe(container)
    return () => {
      container.removeEventListener('scroll', note)
      for (const name of mediaEvents) container.removeEventListener(name, toEnd, true)
      resized.disconnect()
    }
  }, [])
  useEffect(() => {
    const container = element.current!
    if (isAtEnd.current) container.scrollTop = container.scrollHeight
  }, [content])
  return element
}
