import type { ComponentChildren, JSX } from 'preact'
import { goBackTo } from '../state/route.ts'
import { Icon } from './icons.tsx'

/** Leads from an entry to its list, which is then where it was. With a modifier it does what links do. */
export function BackLink({ to, children }: { to: string; children: ComponentChildren }): JSX.Element {
  return (
    <a
      class="button small"
      href={to}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        goBackTo(to)
      }}
    >
      <Icon name="back" />
      {children}
    </a>
  )
}
