import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { pastedFiles, useDroppedFiles } from './given-files.ts'
import { Icon } from './icons.tsx'
import { isOfInputMethod } from './input-method.ts'
import { useView } from './view.ts'

const maxLength = 10_000

/** The field for messages: Enter sends, Shift and Enter begin a new line. */
export function Composer(): JSX.Element {
  const { chat, text } = useView()
  const { appearance, isOpen, messages, user, mode } = chat
  const draft = chat.draft.text.value
  const field = useRef<HTMLTextAreaElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  const last = messages.value.at(-1)
  // A choice may be all that the bot can understand, but not a person who answers in its place.
  const isLocked =
    last !== undefined && last.userId !== user.value?.id && last.payload.type === 'choice'
      ? last.payload['disableFreeText'] === true && chat.people.turns.value.at(-1)?.name === undefined
      : false

  useEffect(() => {
    // A chat in the page takes the focus when the visitor gives it; on a phone it would raise the keyboard over the chat.
    const isTouched = matchMedia('(pointer: coarse)').matches
    if (isOpen.value && mode !== 'embedded' && !isTouched) field.current?.focus()
  }, [isOpen.value])
  useEffect(() => {
    const { style, scrollHeight } = field.current!
    style.blockSize = 'auto'
    style.blockSize = `${Math.max(scrollHeight, field.current!.scrollHeight)}px`
    if (draft === '') style.blockSize = ''
  }, [draft])

  function send(): void {
    const written = draft.trim()
    if (written === '' || isLocked) return
    chat.say({ type: 'text', text: written })
    chat.draft.write('')
    chat.showTyping(false)
    chat.dismissRefusals()
  }

  const takesFiles = appearance.value.allowFileUpload === true && !isLocked
  useDroppedFiles(takesFiles ? (files) => void chat.attach(files) : undefined)
  const label = appearance.value.composerPlaceholder ?? text('placeholder')
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
        field.current?.focus()
      }}
    >
      {takesFiles && (
        <>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            onChange={({ currentTarget }) => {
              void chat.attach([...(currentTarget.files ?? [])])
              currentTarget.value = ''
            }}
          />
          <button type="button" class="icon" aria-label={text('attach')} onClick={() => picker.current?.click()}>
            <Icon name="attach" />
          </button>
        </>
      )}
      <textarea
        ref={field}
        rows={1}
        dir="auto"
        maxLength={maxLength}
        aria-label={label}
        placeholder={label}
        // A disabled field would lose the focus.
        readOnly={isLocked}
        aria-disabled={isLocked}
        value={draft}
        onInput={({ currentTarget: { value } }) => {
          chat.draft.write(value)
          chat.showTyping(value !== '')
        }}
        onPaste={(event) => {
          const files = pastedFiles(event)
          if (!takesFiles || files.length === 0) return
          event.preventDefault()
          void chat.attach(files)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || isOfInputMethod(event)) return
          event.preventDefault()
          send()
        }}
      />
      <button type="submit" class="icon send" aria-label={text('send')} disabled={isLocked || draft.trim() === ''}>
        <Icon name="send" />
      </button>
      {draft.length >= maxLength && (
        <p class="count" role="status">
          {draft.length} / {maxLength}
        </p>
      )}
    </form>
  )
}
