import type { JSX } from 'preact'
import { ActionButton } from './action-button.tsx'

interface SaveButtonProps {
  label?: string
  isPrimary?: boolean
  /** Whether there is nothing to save, or a save is in flight. */
  isInactive: boolean
}

/** The button that saves a form. */
export function SaveButton({ label = 'Save', isPrimary = false, isInactive }: SaveButtonProps): JSX.Element {
  return (
    <ActionButton type="submit" {...(isPrimary && { kind: 'primary' })} isInactive={isInactive}>
      {label}
    </ActionButton>
  )
}
