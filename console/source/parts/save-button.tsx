import type { JSX } from 'preact'
import { BusyButton } from './busy-button.tsx'

interface SaveButtonProps {
  label?: string
  isPrimary?: boolean
  /** Whether there is nothing to save, or a save is in flight. */
  isIdle: boolean
}

/** The button of a form. While there is nothing to save it keeps the focus, unlike one that is disabled. */
export function SaveButton({ label = 'Save', isPrimary = false, isIdle }: SaveButtonProps): JSX.Element {
  return (
    <BusyButton type="submit" {...(isPrimary && { kind: 'primary' })} isBusy={isIdle}>
      {label}
    </BusyButton>
  )
}
