import type { ComponentChildren, JSX } from 'preact'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { shortId } from '../format.ts'
import { Time } from '../parts/time.tsx'
import { Composer } from './composer.tsx'
import { HandoverBar } from './handover-bar.tsx'
import { Transcript } from './transcript.tsx'
import { useMarkRead } from './use-mark-read.ts'
import type { OpenTranscript } from './use-transcript.ts'

interface TranscriptPanelProps {
  botId: string
  id: string
  transcript: OpenTranscript
  isUserTyping?: boolean
  /** Before and after the names of the users. */
  start?: ComponentChildren
  end?: ComponentChildren
}

/** Both sides of a conversation, the person or bot that answers, and the field in which members write. */
export function TranscriptPanel({
  botId,
  id,
  transcript,
  isUserTyping = false,
  start,
  end,
}: TranscriptPanelProps): JSX.Element | null {
  const { data, reload } = transcript.resource
  useMarkRead(botId, data?.about.handover?.id, data?.loaded.messages[0]?.id)
  if (!data) return null
  const { about, loaded, handovers } = data
  const { handover, conversation, participants } = about
  return (
    <section class="panel transcript" aria-label="Transcript">
      <header>
        {start}
        <h2>
          <bdi>{namesOf(participants)}</bdi>
          <span class="quiet">
            began <Time at={conversation.createdAt} />
          </span>
        </h2>
        {end}
      </header>
      <HandoverBar botId={botId} conversationId={id} handover={handover} onChange={reload} />
      <Transcript
        botId={botId}
        loaded={loaded}
        handovers={handovers}
        writings={transcript.writings.value}
        onChange={reload}
        isBusy={transcript.isBusy}
        loadOlder={transcript.loadOlder}
      />
      <p class="typing quiet" role="status">
        {isUserTyping && `${namesOf(participants)} types …`}
      </p>
      <Composer botId={botId} conversationId={id} handover={handover} onSent={reload} />
    </section>
  )
}

/** The names of the users of a conversation, without the members who answer there. */
function namesOf(participants: AnswerOf<'getBotConversation'>['participants']): string {
  const users = participants.filter(({ isMember }) => !isMember)
  return users.map(({ id, name }) => name ?? shortId(id)).join(', ') || 'No participant'
}
