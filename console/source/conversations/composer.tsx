import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { pastedFiles, useDroppedFiles } from '../../widget/frame/given-files.ts'
import type { Handover } from '../api/types.ts'
import { Segmented } from '../parts/choice.tsx'
import { hasNoFocus } from '../parts/has-no-focus.ts'
import { Icon } from '../parts/icons.tsx'
import { notify } from '../state/notices.ts'
import { useUnsaved } from '../state/unsaved.ts'
import { draftOf, emptyDraft, keepDraft, type AttachedFile, type Draft, type Kind } from './drafts.ts'
import { explainHandover, hasChanged, isMine } from './handover.ts'
import { newKey, sendFile, sendNote, sendText } from './replies.ts'
import { ReplyField } from './reply-field.tsx'
import { forgetTyping, showTyping } from './show-typing.ts'

interface ComposerProps {
  botId: string
  conversationId: string
  /** The handover in progress; undefined while the bot answers. */
  handover: Handover | undefined
  /** Called when a text is sent, or refused because the handover has changed. */
  onSent: () => void
}

const kinds = [
  { value: 'reply', label: 'Reply', keyShortcut: 'r' },
  { value: 'note', label: 'Note', keyShortcut: 'n' },
] as const

/**
 * The field in which the member of a handover answers, and in which all members write notes. It follows the handover, but
 * stays as it is while the member writes: the next letters of a note would be sent to the user, and those of a reply would
 * be shortcuts.
 */
export function Composer(props: ComposerProps): JSX.Element | null {
  const { conversationId, handover } = props
  const mayReply = isMine(handover)
  const kindAtFirst = (): Kind | undefined => {
    if (mayReply) return 'reply'
    return handover && draftOf(conversationId, 'note').text !== '' ? 'note' : undefined
  }
  const [kind, setKind] = useState(kindAtFirst)
  const [hasChosen, setHasChosen] = useState(false)
  const element = useRef<HTMLDivElement>(null)
  /** The last handover, to which a note belongs also when it ends meanwhile. */
  const latest = useRef(handover)
  latest.current = handover ?? latest.current
  const begin = () => {
    setKind(kindAtFirst())
    setHasChosen(false)
  }
  useLayoutEffect(() => {
    if (!element.current?.contains(document.activeElement)) begin()
  }, [handover?.id, mayReply])
  const choose = (next: Kind) => {
    setKind(next)
    setHasChosen(true)
    // A field of the other kind takes the focus when it appears.
    element.current?.querySelector('textarea')?.focus()
  }
  if (!kind) {
    return handover ? (
      <div class="compose" ref={element}>
        <button type="button" class="button small" aria-keyshortcuts="n" onClick={() => choose('note')}>
          <Icon name="note" />
          Write a note
        </button>
      </div>
    ) : null
  }
  /** It is there only because the member still writes. */
  const isFormer = !handover || (kind === 'reply' && !mayReply)
  // On a device without a keyboard, the focus would open one over the messages.
  const takesFocus = hasChosen || (mayReply && !matchMedia('(pointer: coarse)').matches)
  return (
    <div
      class={`compose ${kind}`}
      ref={element}
      // In Safari its buttons get no focus by a click: it stays within, and none of the next letters is a shortcut.
      tabIndex={-1}
      onFocusOut={({ relatedTarget }) => {
        // In another window, the focus of this one stays.
        const focused = (relatedTarget ?? document.activeElement) as Node | null
        if (isFormer && !element.current?.contains(focused)) begin()
      }}
    >
      <div class="compose-kind">
        {mayReply ? (
          <Segmented label="Kind of text" options={kinds} value={kind} onChange={choose} />
        ) : (
          <strong>{kind === 'note' ? 'Note' : 'Reply'}</strong>
        )}
        {kind === 'note' && <span class="quiet">Only members see notes.</span>}
        {kind === 'reply' && !mayReply && <span class="warn">You no longer answer here. The text is kept.</span>}
      </div>
      <Field
        key={kind}
        {...props}
        handoverId={latest.current!.id}
        kind={kind}
        mayReply={mayReply}
        takesFocus={takesFocus}
      />
    </div>
  )
}

interface FieldProps extends Omit<ComposerProps, 'handover'> {
  handoverId: string
  kind: Kind
  mayReply: boolean
  takesFocus: boolean
}

function Field({ botId, conversationId, handoverId, kind, mayReply, takesFocus, onSent }: FieldProps): JSX.Element {
  const [draft, setDraft] = useState(() => draftOf(conversationId, kind))
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const isSending = useRef(false)
  const field = useRef<HTMLTextAreaElement>(null)
  // Before the next key, which belongs to the field, unless the member writes in another one.
  useLayoutEffect(() => {
    const isElsewhere = document.activeElement?.closest('input, textarea, select, dialog')
    if (takesFocus && !isElsewhere) field.current?.focus()
  }, [])
  const keep = (next: Draft) => {
    keepDraft(conversationId, kind, next)
    setDraft(next)
  }
  const sendRest = async () => {
    let rest = draft
    const text = rest.text.trim()
    if (kind === 'note') {
      await sendNote(botId, handoverId, rest.textKey, text)
      return keep(emptyDraft())
    }
    if (text !== '') {
      await sendText({ botId, conversationId, key: rest.textKey }, text)
      forgetTyping(conversationId)
      rest = { ...rest, text: '', textKey: newKey() }
      keep(rest)
    }
    for (const file of rest.files) {
      await sendFile({ botId, conversationId, key: file.key }, file.content)
      rest = without(rest, file)
      keep(rest)
    }
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    // The state of a double click's second event is still that of the first.
    if (isSending.current || (draft.text.trim() === '' && draft.files.length === 0)) return
    isSending.current = true
    setIsBusy(true)
    setProblem('')
    try {
      await sendRest()
    } catch (error) {
      const reason = `Not sent. ${explainHandover(error)}`
      // This field disappears with the handover, and the notice stays.
      if (hasChanged(error)) notify('bad', reason)
      else setProblem(reason)
    }
    isSending.current = false
    setIsBusy(false)
    onSent()
    // A member who has gone elsewhere meanwhile stays there.
    const compose = field.current?.closest('.compose')
    if (hasNoFocus() || compose?.contains(document.activeElement)) field.current?.focus()
  }
  useUnsaved(draft.text.trim() !== '' || draft.files.length > 0)
  const attach = (given: File[]) => {
    const files = given.map((content) => ({ content, key: newKey() }))
    keep({ ...draft, files: [...draft.files, ...files] })
  }
  // A note has none.
  const takesFiles = kind === 'reply' && !isBusy
  useDroppedFiles(takesFiles ? attach : undefined)
  const label = kind === 'note' ? 'Note' : 'Reply'
  return (
    <form
      onSubmit={submit}
      onPaste={(event) => {
        const files = pastedFiles(event)
        if (!takesFiles || files.length === 0) return
        event.preventDefault()
        attach(files)
      }}
      aria-label={label}
    >
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {draft.files.length > 0 && (
        <div class="compose-files">
          {draft.files.map((file) => (
            <FileChip key={file.key} file={file.content} isBusy={isBusy} onRemove={() => keep(without(draft, file))} />
          ))}
        </div>
      )}
      <ReplyField
        field={field}
        label={label}
        keyShortcut={kind === 'note' ? 'n' : 'r'}
        placeholder={kind === 'note' ? 'A note for other members' : 'Reply, or / for a canned reply'}
        isReadOnly={isBusy}
        hasCannedReplies={kind === 'reply'}
        value={draft.text}
        onChange={(text) => {
          keep({ ...draft, text, textKey: newKey() })
          if (kind === 'reply' && mayReply) showTyping(botId, conversationId, text !== '')
        }}
        onSubmit={submit}
      />
      <div class="compose-actions">
        {kind === 'reply' && (
          <>
            <Attach isBusy={isBusy} onAttach={attach} />
            <button
              type="button"
              class="button icon-only"
              aria-label="Insert a canned reply"
              title="Insert a canned reply"
              disabled={isBusy}
              onClick={() => beginSearch(field.current!)}
            >
              <Icon name="slash" />
            </button>
          </>
        )}
        <span class="spacer" />
        <span class="hint">Enter sends</span>
        <button type="submit" class="button primary" aria-disabled={isBusy}>
          {kind === 'note' ? 'Add note' : 'Send'}
        </button>
      </div>
    </form>
  )
}

function without(draft: Draft, file: AttachedFile): Draft {
  return { ...draft, files: draft.files.filter(({ key }) => key !== file.key) }
}

/** Types a slash for the member, which lists the canned replies. */
function beginSearch(field: HTMLTextAreaElement): void {
  const { value, selectionStart } = field
  const isInWord = /\S/.test(value.slice(0, selectionStart).slice(-1))
  field.focus()
  field.setRangeText(isInWord ? ' /' : '/', selectionStart, field.selectionEnd, 'end')
  field.dispatchEvent(new Event('input', { bubbles: true }))
}

function FileChip({ file, isBusy, onRemove }: { file: File; isBusy: boolean; onRemove: () => void }): JSX.Element {
  return (
    <p class="chip">
      <span class="file-name">{file.name}</span>
      <button
        type="button"
        class="button icon-only"
        aria-label={`Remove ${file.name}`}
        disabled={isBusy}
        onClick={onRemove}
      >
        <Icon name="close" />
      </button>
    </p>
  )
}

function Attach({ isBusy, onAttach }: { isBusy: boolean; onAttach: (files: File[]) => void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={field}
        type="file"
        multiple
        hidden
        aria-label="File to send"
        onChange={({ currentTarget }) => {
          onAttach([...(currentTarget.files ?? [])])
          currentTarget.value = ''
        }}
      />
      <button
        type="button"
        class="button icon-only"
        aria-label="Attach a file"
        title="Attach a file"
        disabled={isBusy}
        onClick={() => field.current?.click()}
      >
        <Icon name="attach" />
      </button>
    </>
  )
}
