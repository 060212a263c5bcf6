import type { ComponentChildren, JSX } from 'preact'

interface ActionButtonProps {
  type?: 'button' | 'submit'
  /** Classes besides `button`. */
  kind?: string
  /** Whether it does nothing: its action goes on, or there is nothing to do. */
  isInactive: boolean
  keyShortcut?: string
  /** Its name, where its text alone is not one. */
  label?: string
  onClick?: () => void
  children: ComponentChildren
}

/** A button for an action that takes time. While it is inactive it keeps the focus, unlike one that is disabled. */
export function ActionButton({
  type = 'button',
  kind,
  isInactive,
  keyShortcut,
  label,
  onClick,
  children,
}: ActionButtonProps): JSX.Element {
  return (
    <button
      type={type}
      class={kind === undefined ? 'button' : `button ${kind}`}
      aria-disabled={isInactive}
      aria-keyshortcuts={keyShortcut}
      aria-label={label}
      onClick={(event) => {
        // Enter in a field of its form clicks a button that submits, too.
        if (isInactive) event.preventDefault()
        else onClick?.()
      }}
    >
      {children}
    </button>
  )
}
