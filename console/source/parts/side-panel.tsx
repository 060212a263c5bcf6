import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { isOfInputMethod } from '../../widget/frame/input-method.ts'
import { goBackTo } from '../state/route.ts'
import { BackLink } from './back-link.tsx'
import { Copy } from './copy.tsx'

interface SidePanelProps {
  label: string
  /** The address of the list that the panel was opened from. */
  back: string
  backLabel: string
  /** The id to copy, where it is one that requests need. */
  id?: string
  shownId?: string
  children: ComponentChildren
}

/** The details of one entry beside its list, or in its place where the page is narrow. Escape closes the panel. */
export function SidePanel({ label, back, backLabel, id, shownId = id, children }: SidePanelProps): JSX.Element {
  const panel = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const { top } = panel.current!.getBoundingClientRect()
    // In the place of the list, it is seen from its start, however far the list was scrolled.
    const isInPlaceOfList = getComputedStyle(panel.current!).position === 'static'
    if (isInPlaceOfList && (top < 0 || top > innerHeight / 2)) panel.current!.scrollIntoView()
  }, [])
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      // Escape in a dialog closes that alone.
      const isElsewhere = isOfInputMethod(event) || document.querySelector('dialog[open]')
      if (event.key === 'Escape' && !event.defaultPrevented && !isElsewhere) goBackTo(back)
    }
    addEventListener('keydown', close)
    return () => removeEventListener('keydown', close)
  }, [back])
  return (
    <aside class="event-panel" aria-label={label} ref={panel}>
      <header>
        <BackLink to={back}>{backLabel}</BackLink>
        {id !== undefined && <Copy text={id} shown={shownId!} label={`${label.toLowerCase()} id`} />}
      </header>
      {children}
    </aside>
  )
}

export function Section({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  )
}
