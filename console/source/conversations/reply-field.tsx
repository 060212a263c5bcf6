import type { JSX, RefObject } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { CannedReply } from '../api/types.ts'
import { plural } from '../format.ts'
import { isOfInputMethod } from '../../widget/frame/input-method.ts'
import { useHeightOf } from '../parts/use-height-of.ts'
import { useResource } from '../state/resource.ts'
import { to } from '../state/route.ts'
import { findReplies, loadCannedReplies, slashBefore } from './canned-replies.ts'

interface ReplyFieldProps {
  field: RefObject<HTMLTextAreaElement | null>
  label: string
  keyShortcut: string
  placeholder: string
  isReadOnly: boolean
  /** Whether a slash lists the canned replies. */
  hasCannedReplies: boolean
  value: string
  onChange: (text: string) => void
  /** Enter was pressed. */
  onSubmit: (event: Event) => void
}

/**
 * The field of a composer. Enter submits, Shift and Enter begin a line. A slash lists the canned replies: the characters
 * after it search, the arrow keys select, Enter or Tab inserts, Escape closes the list.
 */
export function ReplyField(props: ReplyFieldProps): JSX.Element {
  const { field, label, keyShortcut, placeholder, isReadOnly, hasCannedReplies, value, onChange, onSubmit } = props
  const [caret, setCaret] = useState(0)
  /** Position of the slash whose list Escape has closed. */
  const [closedAt, setClosedAt] = useState(-1)
  /** Position of the selected reply among those that a search finds. Another search begins with the first. */
  const [selection, setSelection] = useState({ search: '', index: 0 })
  const caretAfterInsertion = useRef<number>(undefined)
  const listId = useId()
  const slash = hasCannedReplies ? slashBefore(value, caret) : undefined
  const isOpen = slash !== undefined && slash.start !== closedAt
  const replies = useResource(isOpen ? 'canned replies' : undefined, loadCannedReplies)
  const found = isOpen ? findReplies(replies.data ?? [], slash.search) : []
  const selected = selection.search === slash?.search ? selection.index : 0
  const current = found[Math.min(selected, found.length - 1)]
  useEffect(() => {
    if (slash === undefined) setClosedAt(-1)
  }, [slash === undefined])
  useHeightOf(value, field)
  useLayoutEffect(() => {
    if (caretAfterInsertion.current === undefined) return
    field.current?.setSelectionRange(caretAfterInsertion.current, caretAfterInsertion.current)
    caretAfterInsertion.current = undefined
  }, [value])

  const insert = (reply: CannedReply) => {
    const before = value.slice(0, slash!.start) + reply.text
    caretAfterInsertion.current = before.length
    setCaret(before.length)
    onChange(before + value.slice(caret))
    field.current?.focus()
  }
  const noteCaret = ({ currentTarget }: { currentTarget: HTMLTextAreaElement }) =>
    setCaret(currentTarget.selectionStart)
  const press = (event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }) => {
    const { key } = event
    if (isOfInputMethod(event)) return
    if (isOpen && key === 'Escape') setClosedAt(slash.start)
    else if (current && (key === 'ArrowDown' || key === 'ArrowUp')) {
      const index = (found.indexOf(current) + (key === 'ArrowDown' ? 1 : found.length - 1)) % found.length
      setSelection({ search: slash!.search, index })
    } else if (current && !event.shiftKey && (key === 'Enter' || key === 'Tab')) insert(current)
    else if (key === 'Enter' && !event.shiftKey) return onSubmit(event)
    // The next one leaves the conversation.
    else if (key === 'Escape') return leave(event.currentTarget)
    else return
    event.preventDefault()
  }
  return (
    <>
      {isOpen && (
        <CannedReplyList
          id={listId}
          found={found}
          isLoaded={replies.data !== undefined}
          current={current}
          onPick={insert}
        />
      )}
      <textarea
        ref={field}
        rows={2}
        dir="auto"
        aria-label={label}
        aria-keyshortcuts={keyShortcut}
        placeholder={placeholder}
        readOnly={isReadOnly}
        value={value}
        {...(hasCannedReplies && { 'aria-autocomplete': 'list' })}
        {...(isOpen && { 'aria-controls': listId })}
        {...(current && { 'aria-activedescendant': current.id })}
        onInput={(event) => {
          noteCaret(event)
          onChange(event.currentTarget.value)
        }}
        onSelect={noteCaret}
        onKeyDown={press}
      />
    </>
  )
}

/** Takes the focus from a field, to the element around it that handles keys, if there is one. */
function leave(field: HTMLElement): void {
  const around = field.closest<HTMLElement>('[data-keys]')
  if (around) around.focus()
  else field.blur()
}

interface CannedReplyListProps {
  id: string
  found: CannedReply[]
  isLoaded: boolean
  current: CannedReply | undefined
  onPick: (reply: CannedReply) => void
}

function CannedReplyList({ id, found, isLoaded, current, onPick }: CannedReplyListProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [current?.id])
  const count = found.length === 0 ? 'No canned reply matches.' : plural(found.length, 'canned reply', 'canned replies')
  return (
    <div class="canned-list">
      <ul role="listbox" id={id} ref={list} aria-label="Canned replies">
        {found.map((reply) => (
          <li
            key={reply.id}
            id={reply.id}
            role="option"
            aria-selected={reply === current}
            // The focus stays in the field.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onPick(reply)}
          >
            <code>/{reply.shortcut}</code>
            <span dir="auto">{reply.text}</span>
          </li>
        ))}
      </ul>
      <p class="quiet">
        <span role="status">{isLoaded ? count : 'Loading the canned replies'}</span>
        <a href={to('inbox', 'canned-replies')}>Manage</a>
      </p>
    </div>
  )
}
