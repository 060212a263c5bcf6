import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { Failure } from '../api/ask.ts'
import { shortId } from '../format.ts'
import { Copy } from '../parts/copy.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { Time } from '../parts/time.tsx'
import { navigate, to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import { About } from './about.tsx'
import { Composer } from './composer.tsx'
import { HandoverBar } from './handover-bar.tsx'
import { isMine } from './handover.ts'
import { Transcript } from './transcript.tsx'
import { useTranscript } from './use-transcript.ts'

interface ConversationPageProps {
  botId: string
  id: string
  /** The list that the page was opened from. */
  back: { href: string; label: string }
}

/**
 * One conversation: both sides, the person or bot that answers, and beside them the people, their tags and states. Escape
 * leads to the list.
 */
export function ConversationPage({ botId, id, back }: ConversationPageProps): JSX.Element {
  const transcript = useTranscript(botId, id)
  const { href, label } = back
  useEffect(() => {
    const leave = (event: KeyboardEvent) => {
      // Escape in a dialog or in a field belongs to that alone.
      const isElsewhere = event.target instanceof Element && event.target.closest('dialog, input, textarea')
      if (event.key === 'Escape' && !event.defaultPrevented && !isElsewhere) navigate(href)
    }
    addEventListener('keydown', leave)
    return () => removeEventListener('keydown', leave)
  }, [href])
  const { error, reload } = transcript.resource
  const isGone = error instanceof Failure && error.status === 404
  return (
    <div class="conversation">
      <header>
        <a class="button small" href={href}>
          <Icon name="back" />
          {label}
        </a>
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
          {({ about, loaded, notes }) => (
            <div class="conversation-columns">
              <section class="panel transcript" aria-label="Transcript">
                <h2>
                  {namesOf(about.participants)}
                  <span class="quiet">
                    since <Time at={about.conversation.createdAt} />
                  </span>
                </h2>
                <HandoverBar botId={botId} conversationId={id} handover={about.handover} onChange={reload} />
                <Transcript
                  botId={botId}
                  loaded={loaded}
                  notes={notes}
                  handoverId={about.handover?.id}
                  onChange={reload}
                  isBusy={transcript.isBusy}
                  loadOlder={transcript.loadOlder}
                />
                {about.handover && (
                  <Composer
                    key={`${about.handover.id} ${isMine(about.handover)}`}
                    botId={botId}
                    conversationId={id}
                    handover={about.handover}
                    onSent={reload}
                  />
                )}
                <p class="live quiet">
                  <i class="is-live" /> Live. The audit log has this reading.
                </p>
              </section>
              <About botId={botId} about={about} />
            </div>
          )}
        </Loaded>
      )}
    </div>
  )
}

/** The names of the users of a conversation, without the members who answer there. */
function namesOf(participants: AnswerOf<'getBotConversation'>['participants']): string {
  const users = participants.filter(({ isMember }) => !isMember)
  return users.map(({ id, name }) => name ?? shortId(id)).join(', ') || 'No participant'
}
