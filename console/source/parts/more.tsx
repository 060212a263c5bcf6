import type { ComponentChildren, JSX } from 'preact'
import type { FurtherPages } from '../state/further-pages.ts'
import { ActionButton } from './action-button.tsx'

interface MoreProps {
  of: Pick<FurtherPages<unknown>, 'isBusy' | 'load'>
  /** Undefined after the last page. */
  nextToken: string | undefined
  label: string
  /** Facts beside the button. */
  children?: ComponentChildren
}

/** The button below a list that loads its next page; nothing after the last one. */
export function More({ of, nextToken, label, children }: MoreProps): JSX.Element | null {
  if (nextToken === undefined) return null
  return (
    <p class="more">
      <ActionButton isInactive={of.isBusy} onClick={() => void of.load(nextToken)}>
        {label}
      </ActionButton>
      {children}
    </p>
  )
}
