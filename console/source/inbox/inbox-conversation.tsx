import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Failure } from '../api/ask.ts'
import { About } from '../conversations/about.tsx'
import { TranscriptPanel } from '../conversations/transcript-panel.tsx'
import { useTranscript } from '../conversations/use-transcript.ts'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { navigate } from '../state/route.ts'
import { typing } from './typing.ts'

interface InboxConversationProps {
  botId: string
  id: string
  /** The address of the list. */
  back: string
  /** The key of an action that is to be carried out, see `shortcuts.tsx`. */
  pendingKey: string | undefined
  onKeyDone: () => void
}

/** A conversation beside the list, or in its place on a phone. Escape leads to the list. */
export function InboxConversation({ botId, id, back, pendingKey, onKeyDone }: InboxConversationProps): JSX.Element {
  const transcript = useTranscript(botId, id)
  const [showsAbout, setShowsAbout] = useState(() => matchMedia('(min-width: 1500px)').matches)
  const pane = useRef<HTMLDivElement>(null)
  const { data, error } = transcript.resource
  const isLoaded = data !== undefined
  // The field of the composer has taken the focus where the member answers.
  useEffect(() => {
    if (isLoaded && !pane.current?.contains(document.activeElement)) pane.current?.focus()
  }, [isLoaded])
  // Before the next key, which may belong to the field that this one opens.
  useLayoutEffect(() => {
    if (!isLoaded || pendingKey === undefined) return
    const target = pane.current?.querySelector<HTMLElement>(`[aria-keyshortcuts="${pendingKey}"]:not(:disabled)`)
    target?.focus()
    target?.click()
    onKeyDone()
  }, [isLoaded, pendingKey])
  const leave = (event: KeyboardEvent) => {
    // Escape in a dialog or in a field belongs to that alone.
    const isElsewhere = event.target instanceof Element && event.target.closest('dialog, input, textarea, select')
    if (event.key !== 'Escape' || event.defaultPrevented || isElsewhere) return
    if (showsAbout && event.target instanceof Element && event.target.closest('.about')) setShowsAbout(false)
    else navigate(back)
  }
  if (error instanceof Failure && error.status === 404) {
    return (
      <Empty title="Conversation not found">
        <p>The bot has no such conversation, or it was deleted.</p>
        <a class="button" href={back}>
          Back to the list
        </a>
      </Empty>
    )
  }
  return (
    <div
      class={`inbox-conversation ${showsAbout ? 'with-about' : ''}`}
      ref={pane}
      tabIndex={-1}
      data-keys
      onKeyDown={leave}
    >
      <Loaded of={transcript.resource} lines={8}>
        {({ about }) => (
          <>
            <TranscriptPanel
              botId={botId}
              id={id}
              transcript={transcript}
              isUserTyping={typing.value.has(id)}
              start={
                <a class="button small icon-only inbox-back" href={back} aria-label="Back to the list">
                  <Icon name="back" />
                </a>
              }
              end={
                <button
                  type="button"
                  class="button small"
                  aria-expanded={showsAbout}
                  aria-keyshortcuts="i"
                  title="Details (I)"
                  onClick={() => setShowsAbout(!showsAbout)}
                >
                  Details
                </button>
              }
            />
            {showsAbout && <About botId={botId} about={about} />}
          </>
        )}
      </Loaded>
    </div>
  )
}
