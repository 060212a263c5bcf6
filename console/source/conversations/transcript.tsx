import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Payload } from '../chat/payload.tsx'
import { formatAbsolute, formatMoment, shortId } from '../format.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { hasNoFocus } from '../parts/has-no-focus.ts'
import { Empty } from '../parts/loaded.tsx'
import { useStayAtEnd } from '../parts/stay-at-end.ts'
import { Outcome } from '../parts/status.tsx'
import { to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import { toEntries, type Entry, type Turn } from './entries.ts'
import type { Writing } from './follow-conversation.ts'
import type { LoadedMessages, TranscriptMessage } from './messages.ts'
import { Note } from './note.tsx'
import { Picture } from './picture.tsx'
import { Tags } from './tags.tsx'
import type { HandoverWithNotes } from './use-handovers.ts'

/** Screen readers look at a change of a page within this time. */
const recallMilliseconds = 1000

interface TranscriptProps {
  botId: string
  loaded: LoadedMessages
  handovers: HandoverWithNotes[]
  writings: readonly Writing[]
  /** Called after the deletion of a note. */
  onChange: () => void
  isBusy: boolean
  loadOlder: () => Promise<void>
}

/**
 * The messages of both sides, the notes of members, and the begins and ends of handovers, oldest first. The list follows
 * new ones, unless the reader has scrolled up.
 */
export function Transcript(props: TranscriptProps): JSX.Element {
  const { botId, loaded, handovers, writings, onChange, isBusy, loadOlder } = props
  const entries = useMemo(() => toEntries(loaded, handovers), [loaded, handovers])
  const unfinished = writings.filter(({ messageId }) => !loaded.messages.some(({ id }) => id === messageId))
  const end = useStayAtEnd(`${entries.at(-1)?.id} ${unfinished.map(({ text }) => text.length).join(' ')}`)
  // Each part of a message that is being written renders the transcript again.
  const list = useMemo(() => <Entries botId={botId} entries={entries} onChange={onChange} />, [botId, entries])
  const [isRecalling, setIsRecalling] = useState(false)
  const showOlder = async () => {
    const log = end.current!
    const below = log.scrollHeight - log.scrollTop
    // Older messages are no news.
    setIsRecalling(true)
    await loadOlder()
    setTimeout(() => setIsRecalling(false), recallMilliseconds)
    // The messages in view keep their position, and the button that is gone leaves the focus to them.
    requestAnimationFrame(() => {
      log.scrollTop = log.scrollHeight - below
      if (hasNoFocus()) log.focus()
    })
  }
  return (
    <div
      class="messages"
      ref={end}
      tabIndex={0}
      role="log"
      aria-live={isRecalling ? 'off' : 'polite'}
      aria-label="Messages"
    >
      {loaded.nextToken !== undefined && (
        <p class="more">
          <ActionButton kind="small" isInactive={isBusy} onClick={() => void showOlder()}>
            Show older messages
          </ActionButton>
        </p>
      )}
      {entries.length === 0 && unfinished.length === 0 ? <Empty icon="chat" title="No message yet" /> : list}
      {unfinished.length > 0 && <Unfinished writings={unfinished} />}
    </div>
  )
}

interface EntriesProps {
  botId: string
  entries: Entry[]
  onChange: () => void
}

function Entries({ botId, entries, onChange }: EntriesProps): JSX.Element {
  return (
    <ol class="plain">
      {entries.map((entry) => {
        switch (entry.kind) {
          case 'message':
            return <Message key={entry.id} botId={botId} message={entry.message} />
          case 'note':
            return <Note key={entry.id} botId={botId} {...entry} onDeleted={onChange} />
          case 'turn':
            return <TurnLine key={entry.id} {...entry} />
        }
      })}
    </ol>
  )
}

/** The messages that the bot is writing. Screen readers announce each once it is complete. */
function Unfinished({ writings }: { writings: readonly Writing[] }): JSX.Element {
  return (
    <ol class="plain" aria-live="off" aria-label="Being written">
      {writings.map(({ streamId, text, createdAt }) => (
        <li key={streamId} class="bot unfinished">
          <p class="author">
            <strong>Bot</strong>
            <span class="quiet">is writing</span>
            <time class="quiet" dateTime={createdAt} title={formatAbsolute(createdAt)}>
              {formatMoment(createdAt)}
            </time>
          </p>
          <p dir="auto">{text}</p>
        </li>
      ))}
    </ol>
  )
}

/** The line between messages at which other participants begin to answer. */
function TurnLine({ turn: { name, text, title, at } }: { turn: Turn }): JSX.Element {
  return (
    <li class="turn">
      <span>
        {name !== undefined && <bdi>{`${name} `}</bdi>}
        {text}
        {title && (
          <>
            : <bdi>{title}</bdi>
          </>
        )}
      </span>
      <time class="quiet" dateTime={at} title={formatAbsolute(at)}>
        {formatMoment(at)}
      </time>
    </li>
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
        <strong dir="auto">{name}</strong>
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

/**
 * The result of the event in which the message was handled or delivered: a failure for every reader, and for developers
 * the link to the event. An event that the bot ignored was left to people, or has no hook: its page tells which.
 */
function Handling({ botId, message }: { botId: string; message: TranscriptMessage }): JSX.Element | null {
  const { event, direction } = message
  if (!event) return null
  const { id, status, failureReason } = event
  const failed = direction === 'incoming' ? 'The bot failed' : 'Not delivered'
  const isRemarkable = status !== 'processed' && status !== 'ignored'
  if (!isRemarkable && !mayChange.value) return null
  return (
    <p class="handling">
      {status === 'failed' ? (
        <span class="reason">
          {failed}: {failureReason ?? 'no reason is known'}
        </span>
      ) : (
        isRemarkable && <Outcome of={status} />
      )}{' '}
      {mayChange.value && (
        <a href={to('bots', botId, 'events', id)} aria-label={`Event of the message of ${message.createdAt}`}>
          Event
        </a>
      )}
    </p>
  )
}
