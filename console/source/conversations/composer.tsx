import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../parts/icons.tsx'
import { notify } from '../state/notices.ts'
import { mayChange, membership } from '../state/session.ts'
import { explainHandover, hasChanged } from './handover.ts'
import { newKey, sendFile, sendText } from './replies.ts'

interface ComposerProps {
  botId: string
  conversationId: string
  /** Called when a message is sent, or refused because the handover has changed. */
  onSent: () => void
}

/** A reply that is not sent yet. Its keys let each part be sent once, however often it is tried. */
interface Draft {
  text: string
  textKey: string
  file?: File | undefined
  fileKey: string
}

/** Unsent replies by member and conversation. They outlive the page of the conversation, and errors. */
const drafts = new Map<string, Draft>()

const emptyDraft = (): Draft => ({ text: '', textKey: newKey(), fileKey: newKey() })

/** The field in which the member of a handover answers. Enter sends, Shift and Enter begin a line. */
export function Composer({ botId, conversationId, onSent }: ComposerProps): JSX.Element {
  const draftOf = `${membership.value?.id} ${conversationId}`
  const [draft, setDraft] = useState(() => drafts.get(draftOf) ?? emptyDraft())
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const isSending = useRef(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const fileField = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const keep = (next: Draft) => {
    drafts.set(draftOf, next)
    setDraft(next)
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    // The state of a double click's second event is still that of the first.
    if (isSending.current || (draft.text.trim() === '' && !draft.file)) return
    isSending.current = true
    setIsBusy(true)
    setProblem('')
    try {
      let rest = draft
      if (rest.text.trim() !== '') {
        await sendText({ botId, conversationId, key: rest.textKey }, rest.text.trim())
        rest = { ...rest, text: '', textKey: newKey() }
        keep(rest)
      }
      if (rest.file) {
        await sendFile({ botId, conversationId, key: rest.fileKey }, rest.file)
        keep(emptyDraft())
      }
    } catch (error) {
      const reason = `Not sent. ${explainHandover(error)}`
      // This field disappears with the handover, and the notice stays.
      if (hasChanged(error)) notify('bad', reason)
      else setProblem(reason)
    }
    isSending.current = false
    setIsBusy(false)
    onSent()
    field.current?.focus()
  }
  return (
    <form class="reply" onSubmit={submit} aria-label="Reply">
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {draft.file && (
        <p class="chip">
          <span class="file-name">{draft.file.name}</span>
          <button
            type="button"
            class="button icon-only"
            aria-label={`Remove ${draft.file.name}`}
            disabled={isBusy}
            onClick={() => keep({ ...draft, file: undefined })}
          >
            <Icon name="close" />
          </button>
        </p>
      )}
      <div class="composer">
        {mayChange.value && (
          <>
            <input
              ref={fileField}
              type="file"
              hidden
              aria-label="File to send"
              onChange={({ currentTarget }) => {
                const [file] = currentTarget.files ?? []
                if (file) keep({ ...draft, file, fileKey: newKey() })
                currentTarget.value = ''
              }}
            />
            <button
              type="button"
              class="button icon-only"
              aria-label="Attach a file"
              disabled={isBusy}
              onClick={() => fileField.current?.click()}
            >
              <Icon name="attach" />
            </button>
          </>
        )}
        <textarea
          ref={field}
          rows={1}
          aria-label="Reply"
          placeholder="Reply"
          readOnly={isBusy}
          value={draft.text}
          onInput={({ currentTarget }) => keep({ ...draft, text: currentTarget.value, textKey: newKey() })}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void submit(event)
            // The next one leaves the page.
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
        />
        <button type="submit" class="button primary icon-only" aria-label="Send" aria-disabled={isBusy}>
          <Icon name="send" />
        </button>
      </div>
    </form>
  )
}
