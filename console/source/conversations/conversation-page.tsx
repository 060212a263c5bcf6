import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { Failure } from '../api/ask.ts'
import { shortId } from '../format.ts'
import { BackLink } from '../parts/back-link.tsx'
import { Copy } from '../parts/copy.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { goBackTo, to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import { About } from './about.tsx'
import { TranscriptPanel } from './transcript-panel.tsx'
import { useTranscript } from './use-transcript.ts'

interface ConversationPageProps {
  botId: string
  id: string
  /** The address of the list that the page was opened from. */
  back: string
}

/**
 * One conversation: both sides, the person or bot that answers, and beside them the people, their tags and states. Escape
 * leads to the list.
 */
export function ConversationPage({ botId, id, back }: ConversationPageProps): JSX.Element {
  const transcript = useTranscript(botId, id)
  useEffect(() => {
    const leave = (event: KeyboardEvent) => {
      // Escape in a dialog or in a field belongs to that alone.
      const isElsewhere = event.target instanceof Element && event.target.closest('dialog, input, textarea')
      if (event.key === 'Escape' && !event.defaultPrevented && !isElsewhere) goBackTo(back)
    }
    addEventListener('keydown', leave)
    return () => removeEventListener('keydown', leave)
  }, [back])
  const { error } = transcript.resource
  const isGone = error instanceof Failure && error.status === 404
  return (
    <div class="conversation">
      <header>
        <BackLink to={back}>Conversations</BackLink>
        <Copy text={id} shown={shortId(id)} label="conversation id" />
        <span class="spacer" />
        {mayChange.value && (
          <div class="actions">
            <a class="button small" href={`${to('bots', botId, 'events')}?conversationId=${encodeURIComponent(id)}`}>
              Its events
            </a>
          </div>
        )}
      </header>
      {isGone ? (
        <Empty title="Conversation not found">
          <p>The bot has no such conversation, or it was deleted.</p>
        </Empty>
      ) : (
        <Loaded of={transcript.resource} lines={8}>
          {({ about }) => (
            <div class="conversation-columns">
              <TranscriptPanel botId={botId} id={id} transcript={transcript} />
              <About botId={botId} about={about} />
            </div>
          )}
        </Loaded>
      )}
    </div>
  )
}
