import type { JSX } from 'preact'

interface SaveButtonProps {
  label?: string
  isPrimary?: boolean
  /** Whether there is nothing to save, or a save is in flight. */
  isIdle: boolean
}

/** The button of a form. While there is nothing to save it keeps the focus, unlike one that is disabled. */
export function SaveButton({ label = 'Save', isPrimary = false, isIdle }: SaveButtonProps): JSX.Element {
  return (
    <button
      type="submit"
      class={`button ${isPrimary ? 'primary' : ''}`}
      aria-disabled={isIdle}
      // Enter in a field clicks the button too.
      onClick={(event) => isIdle && event.preventDefault()}
    >
      {label}
    </button>
  )
}
