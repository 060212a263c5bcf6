import type { ComponentChildren, JSX } from 'preact'

interface BusyButtonProps {
  type?: 'button' | 'submit'
  /** Classes besides `button`. */
  kind?: string
  /** Whether its action goes on. */
  isBusy: boolean
  keyShortcut?: string
  onClick?: () => void
  children: ComponentChildren
}

/** A button whose action takes time. Meanwhile it does nothing and keeps the focus, unlike one that is disabled. */
export function BusyButton({
  type = 'button',
  kind,
  isBusy,
  keyShortcut,
  onClick,
  children,
}: BusyButtonProps): JSX.Element {
  return (
    <button
      type={type}
      class={kind === undefined ? 'button' : `button ${kind}`}
      aria-disabled={isBusy}
      aria-keyshortcuts={keyShortcut}
      onClick={(event) => {
        // Enter in a field of its form clicks a button that submits, too.
        if (isBusy) event.preventDefault()
        else onClick?.()
      }}
    >
      {children}
    </button>
  )
}
