import type { ComponentChildren, JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { isOfInputMethod } from '../../widget/frame/input-method.ts'
import { navigate } from '../state/route.ts'
import { Copy } from './copy.tsx'
import { Icon } from './icons.tsx'

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

/** The details of one entry beside its list. Escape closes the panel. */
export function SidePanel({ label, back, backLabel, id, shownId = id, children }: SidePanelProps): JSX.Element {
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      // Escape in a dialog closes that alone.
      const isElsewhere = isOfInputMethod(event) || document.querySelector('dialog[open]')
      if (event.key === 'Escape' && !event.defaultPrevented && !isElsewhere) navigate(back)
    }
    addEventListener('keydown', close)
    return () => removeEventListener('keydown', close)
  }, [back])
  return (
    <aside class="event-panel" aria-label={label}>
      <header>
        <a class="button small" href={back}>
          <Icon name="back" />
          {backLabel}
        </a>
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
