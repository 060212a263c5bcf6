import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/**
 * Makes a field as high as its text where browsers ignore `field-sizing` of the style sheet: Firefox before 152, Safari
 * before 26.2.
 */
export function useHeightOf(text: string, field: RefObject<HTMLTextAreaElement | null>): void {
  useLayoutEffect(() => {
    const area = field.current
    if (!area || CSS.supports('field-sizing', 'content')) return
    // The height of an empty field, so that a shorter text takes back what a longer one took.
    area.style.height = ''
    area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`
  }, [text])
}
