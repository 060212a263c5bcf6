import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './icons.tsx'

interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
}

/** A dialog before the page. Escape, and a click beside it, close it; the focus goes back to where it was. */
export function Dialog({ title, onClose, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      onClick={({ target }) => target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog">
        <header>
          <h2>{title}</h2>
          <button type="button" class="button icon-only" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}

interface ConfirmProps extends DialogProps {
  /** What the button says that does it. */
  action: string
  isDangerous?: boolean
  onConfirm: () => Promise<unknown>
}

/** Asks before something that cannot be taken back, or that everybody sees. */
export function Confirm({ action, isDangerous = false, onConfirm, ...dialog }: ConfirmProps): JSX.Element {
  const confirm = async (event: Event) => {
    event.preventDefault()
    await onConfirm()
    dialog.onClose()
  }
  return (
    <Dialog {...dialog}>
      <form onSubmit={confirm}>
        <div class="dialog-text">{dialog.children}</div>
        <footer>
          <button type="button" class="button" onClick={dialog.onClose}>
            Cancel
          </button>
          <button type="submit" class={`button ${isDangerous ? 'danger' : 'primary'}`}>
            {action}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
