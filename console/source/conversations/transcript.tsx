import type { JSX } from 'preact'
import { Payload } from '../chat/payload.tsx'
import { formatAbsolute, formatMoment, shortId } from '../format.ts'
import { Empty } from '../parts/loaded.tsx'
import { useStayAtEnd } from '../parts/stay-at-end.ts'
import { Outcome } from '../parts/status.tsx'
import { to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import type { LoadedMessages, TranscriptMessage } from './messages.ts'
import { Picture } from './picture.tsx'
import { Tags } from './tags.tsx'

interface TranscriptProps {
  botId: string
  loaded: LoadedMessages
  isBusy: boolean
  loadOlder: () => Promise<void>
}

/** The messages of both sides, oldest first. The list follows new messages, unless the reader has scrolled up. */
export function Transcript({ botId, loaded, isBusy, loadOlder }: TranscriptProps): JSX.Element {
  const end = useStayAtEnd(loaded.messages[0]?.id)
  return (
    <div class="messages" ref={end} tabIndex={0} role="log" aria-label="Messages">
      {loaded.nextToken !== undefined && (
        <p class="more">
          <button type="button" class="button small" disabled={isBusy} onClick={() => void loadOlder()}>
            Show older messages
          </button>
        </p>
      )}
      {loaded.messages.length === 0 ? (
        <Empty icon="chat" title="No message yet" />
      ) : (
        <ol class="plain">
          {loaded.messages.toReversed().map((message) => (
            <Message key={message.id} botId={botId} message={message} />
          ))}
        </ol>
      )}
    </div>
  )
}

function Message({ botId, message }: { botId: string; message: TranscriptMessage }): JSX.Element {
  const { id, author, payload, direction, createdAt, tags, type, wasStreamed } = message
  // In the inbox a plugin sends the user's messages, and members' messages come in.
  const isForeign = author.kind === 'user' || (direction === 'incoming' && author.kind === 'bot')
  const name = author.kind === 'bot' ? 'Bot' : (author.name ?? shortId(author.id))
  return (
    <li class={author.kind === 'user' ? 'theirs' : author.kind} id={id}>
      <p class="author">
        {author.kind === 'member' && <Picture name={name} url={author.pictureUrl} />}
        <strong>{name}</strong>
        {author.kind === 'member' && <span class="quiet">member</span>}
        <time class="quiet" dateTime={createdAt} title={formatAbsolute(createdAt)}>
          {formatMoment(createdAt)}
        </time>
      </p>
      {payload ? (
        <Payload payload={payload} isForeign={isForeign} />
      ) : (
        <p class="quiet">A message of the type {type} that is too large to be shown here.</p>
      )}
      <Tags tags={tags} />
      {wasStreamed && <p class="quiet">Sent in parts</p>}
      <Handling botId={botId} message={message} />
    </li>
  )
}

/** The link to the event in which the message was handled or delivered, and why that failed. */
function Handling({ botId, message }: { botId: string; message: TranscriptMessage }): JSX.Element | null {
  const { event, direction } = message
  if (!event || !mayChange.value) return null
  const failed = direction === 'incoming' ? 'The bot failed' : 'Not delivered'
  return (
    <p class="handling">
      {event.status === 'failed' ? (
        <span class="reason">
          {failed}: {event.failureReason ?? 'no reason is known'}
        </span>
      ) : (
        event.status !== 'processed' && <Outcome of={event.status} />
      )}{' '}
      <a href={to('bots', botId, 'events', event.id)} aria-label={`Event of the message of ${message.createdAt}`}>
        Event
      </a>
    </p>
  )
}
