import type { ComponentChildren, JSX, RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { explain } from '../api/ask.ts'
import { Copy } from './copy.tsx'
import { Icon } from './icons.tsx'
import { Waiting } from './waiting.tsx'

interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
}

/** Opens a dialog as a modal one, and closes it before it is removed. @returns what the `dialog` has as `ref` */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null)
  // Before the next key: an effect after the next paint leaves the first letters to the button that opened the dialog.
  useLayoutEffect(() => {
    const element = dialog.current!
    element.showModal()
    // A dialog that is closed gives the focus back, one that is removed while it is open does not.
    return () => element.close()
  }, [])
  return dialog
}

interface ClosedByClickProps extends DialogProps {
  /** Whether a click outside closes it as long as nothing is typed; by default it does. */
  isClosedByClick?: boolean
}

/**
 * A modal dialog. Escape closes it, and so does a click outside, which may be a slip and loses nothing that is typed; the focus returns
 * to its previous element.
 */
export function Dialog({ title, isClosedByClick = true, onClose, children }: ClosedByClickProps): JSX.Element {
  const dialog = useModal()
  const isTyped = useRef(false)
  /** A click also ends outside when a text is selected from the dialog to a place beyond its edge. */
  const beganOutside = useRef(false)
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      // The event of a dialog that was closed because it is removed comes later.
      onClose={() => dialog.current && onClose()}
      onPointerDown={({ target }) => (beganOutside.current = target === dialog.current)}
      onInput={() => (isTyped.current = true)}
      onClick={({ target }) => {
        const isOutside = beganOutside.current && target === dialog.current
        if (isOutside && isClosedByClick && !isTyped.current) dialog.current?.close()
      }}
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

interface FormDialogProps extends DialogProps {
  /** The label of the submit button. */
  action: string
  isDangerous?: boolean
  /** Whether the submit button is disabled. */
  isDisabled?: boolean
  /** Submits the form. The dialog stays open and shows an error that it throws. */
  onSubmit: () => Promise<unknown>
}

/** A dialog with a form, a submit button and a cancel button. */
export function FormDialog({
  action,
  isDangerous = false,
  isDisabled = false,
  onSubmit,
  children,
  ...dialog
}: FormDialogProps): JSX.Element {
  const [problem, setProblem] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setIsBusy(true)
    setProblem('')
    try {
      await onSubmit()
    } catch (error) {
      setProblem(explain(error))
    }
    setIsBusy(false)
  }
  return (
    <Dialog {...dialog}>
      <form onSubmit={submit}>
        <div class="dialog-text">
          {children}
          {problem && (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
        </div>
        <footer>
          <Waiting isBusy={isBusy} />
          <button type="button" class="button" onClick={dialog.onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={`button ${isDangerous ? 'danger' : 'primary'}`}
            disabled={isDisabled}
            // A disabled button would lose the focus, which a failure needs there.
            aria-disabled={isBusy}
          >
            {action}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

/** Asks for confirmation of an irreversible or public action, and closes after it. */
export function Confirm({ onSubmit, ...dialog }: FormDialogProps): JSX.Element {
  const confirm = async () => {
    await onSubmit()
    dialog.onClose()
  }
  return <FormDialog {...dialog} onSubmit={confirm} />
}

/** Shows a new token or another secret, which the server returns only once. */
export function NewToken({
  token,
  label = 'token',
  children,
  ...dialog
}: DialogProps & { token: string; label?: string }): JSX.Element {
  return (
    <Dialog {...dialog} isClosedByClick={false}>
      <div class="dialog-text">
        <p>{children}</p>
        <Copy text={token} label={label} />
      </div>
      <footer>
        <button type="button" class="button primary" onClick={dialog.onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  )
}
