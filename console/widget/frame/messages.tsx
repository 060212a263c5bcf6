import { Fragment, type JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Author } from './composing.ts'
import { reasonOf } from './failure.ts'
import { isBeingWritten, keyOf, sentIdOf, type Shown } from './history.ts'
import { Icon } from './icons.tsx'
import { safeSource } from './links.ts'
import { Markdown } from './markdown.tsx'
import type { Unsent } from './outbox.ts'
import { Content } from './payload.tsx'
import type { Participant } from './types.ts'
import { useView } from './view.ts'

/** Distance from the end at which a reader still follows new messages. */
const nearPixels = 80
/** Files on their way, or refused, that a small screen has room for. */
const manyUploads = 3

/** The messages of the conversation, those on their way, and whether the bot is writing. */
export function Messages(): JSX.Element {
  const { chat, text } = useView()
  const { appearance, messages, user, unsent, composing, connection } = chat
  const log = useRef<HTMLDivElement>(null)
  const [isAtEnd, setIsAtEnd] = useState(true)
  const shown = messages.value
  const present = new Set(shown.map(sentIdOf))
  const waiting = unsent.value.filter(
    ({ id, conversationId }) =>
      !present.has(id) && (conversationId === undefined || conversationId === chat.currentId()),
  )
  const lastOwn = waiting.length > 0 ? shown.length : shown.findLastIndex(({ userId }) => userId === user.value?.id)
  const botName = appearance.value.botName ?? text('title')

  const authorOf = ({ userId }: Author) => (userId === undefined ? undefined : chat.people.find(userId)?.name)

  const position = useRef(0)
  const follow = () => {
    const { scrollTop, scrollHeight, clientHeight } = log.current!
    if (scrollHeight - scrollTop - clientHeight < nearPixels) setIsAtEnd(true)
    // Messages that arrive during a scroll to the end are no reason to stop following: a reader goes back.
    else if (scrollTop < position.current) setIsAtEnd(false)
    position.current = scrollTop
  }
  const toEnd = () => {
    if (isAtEnd && log.current) log.current.scrollTop = log.current.scrollHeight
  }
  useEffect(toEnd)
  const latest = useRef(toEnd)
  latest.current = toEnd
  useEffect(() => {
    // A frame has no size, and cannot be scrolled, until it is shown; a keyboard or a long text leaves messages less of it.
    const resized = new ResizeObserver(() => latest.current())
    resized.observe(log.current!)
    return () => resized.disconnect()
  }, [])
  /** The last control in the messages that had the focus. */
  const focused = useRef<Element>(undefined)
  useEffect(() => {
    // An option that is chosen, or a message that is discarded, leaves the focus near.
    if (focused.current?.isConnected === false && document.activeElement === document.body) log.current!.focus()
  })

  /** The lines between two messages: those before the first that is shown are among the earlier ones. */
  const turnsBetween = (after: string | undefined, before: string | undefined) => {
    if (after === undefined && chat.past.hasEarlier.value) return null
    const [from, to] = [Date.parse(after ?? '') || 0, Date.parse(before ?? '') || Infinity]
    const turns = chat.people.turns.value.filter(({ at }) => Date.parse(at) > from && Date.parse(at) <= to)
    return turns.map(({ at, name }) => (
      <p key={at} class="turn quiet" dir="auto">
        {name === undefined ? text('returned') : text('joined', { name })}
      </p>
    ))
  }

  const [isReading, setIsReading] = useState(false)
  const readEarlier = async () => {
    setIsReading(true)
    const below = log.current!.scrollHeight - log.current!.scrollTop
    await chat.past.readEarlier()
    setIsReading(false)
    // The messages in view keep their position.
    requestAnimationFrame(() => {
      log.current!.scrollTop = log.current!.scrollHeight - below
      if (document.activeElement === document.body) log.current!.focus()
    })
  }

  return (
    <div class="conversation">
      <div
        class="log"
        role="log"
        aria-live={chat.isRecalling.value ? 'off' : 'polite'}
        aria-label={text('log')}
        tabIndex={0}
        ref={log}
        onScroll={follow}
        onFocusCapture={({ target }) => (focused.current = target instanceof Element ? target : undefined)}
        onLoadCapture={toEnd}
        onLoadedMetadataCapture={toEnd}
      >
        {chat.past.hasEarlier.value && (
          <button type="button" class="option earlier" aria-disabled={isReading} onClick={() => void readEarlier()}>
            {text('earlier')}
          </button>
        )}
        {appearance.value.greeting !== undefined && !chat.past.hasEarlier.value && (
          <div class="message theirs" dir="auto">
            <bdi class="author">{botName}</bdi>
            <Markdown text={appearance.value.greeting} />
          </div>
        )}
        {/* One list: a message that is stored keeps its element, so that it is announced once. */}
        {[
          ...shown.map((message, index) => {
            const isOwn = message.userId === user.value?.id
            const sentId = isOwn ? sentIdOf(message) : undefined
            return (
              <Fragment key={sentId === undefined ? keyOf(message) : ownKey(sentId)}>
                {turnsBetween(shown[index - 1]?.createdAt, message.createdAt)}
                <Row
                  message={message}
                  isOwn={isOwn}
                  isLatest={index > lastOwn}
                  isContinued={message.userId === shown[index - 1]?.userId}
                  botName={botName}
                />
              </Fragment>
            )
          }),
          <Fragment key="turns">{turnsBetween(shown.at(-1)?.createdAt, undefined)}</Fragment>,
          ...waiting.map((unsent) => (
            <Fragment key={ownKey(unsent.id)}>
              <Row message={toMessage(unsent)} unsent={unsent} isOwn isLatest={false} isContinued botName={botName} />
            </Fragment>
          )),
        ]}
        {composing.value && (
          <p class="typing quiet">
            <bdi>{authorOf(composing.value) ?? botName}</bdi> {text('typing')}
            <span class="dots" aria-hidden="true">
              <i />
              <i />
              <i />
            </span>
          </p>
        )}
      </div>
      {!isAtEnd && (
        <button
          type="button"
          class="icon latest"
          aria-label={text('latest')}
          onClick={() => {
            log.current!.scrollTop = log.current!.scrollHeight
            log.current!.focus()
          }}
        >
          <Icon name="down" />
        </button>
      )}
      {/* Many refused files scroll, also by keyboard. */}
      <p class="status" role="status" tabIndex={chat.uploads.value.length > manyUploads ? 0 : undefined}>
        {chat.uploads.value.map(({ name, failure }, index) => (
          <span key={index} class={failure === undefined ? 'upload' : 'upload failure'} dir="auto">
            {failure === undefined
              ? text('uploading', { name })
              : `${name}: ${text('notSent', { reason: reasonOf(failure, text) })}`}
          </span>
        ))}
        {connection.value === 'refused' && text('unavailable')}
        {connection.value === 'lost' && text('offline')}
        {connection.value === 'connecting' && <span class="late">{text('connecting')}</span>}
      </p>
    </div>
  )
}

/** The key of a message of the visitor, on its way and stored. */
const ownKey = (sentId: string) => `own ${sentId}`

/** A message on its way as it will be stored. */
function toMessage({ id, conversationId = '', payload, createdAt }: Unsent): Shown {
  return { id, conversationId, userId: '', payload, createdAt }
}

interface RowProps {
  message: Shown
  /** Present while the message is on its way. */
  unsent?: Unsent
  isOwn: boolean
  isLatest: boolean
  /** Whether the message before is of the same author. */
  isContinued: boolean
  botName: string
}

function Row({ message, unsent, isOwn, isLatest, isContinued, botName }: RowProps): JSX.Element {
  const { chat, text, locale } = useView()
  const choose = (label: string, value: string) => chat.say({ type: 'text', text: label, value })
  const isWriting = !unsent && isBeingWritten(message)
  const state = unsent ? (unsent.failure === undefined ? 'waiting' : 'failed') : ''
  const time = new Date(message.createdAt)
  const person = chat.people.find(message.userId)
  return (
    <div
      class={`message ${isOwn ? 'own' : 'theirs'} of-${/^\w+$/.exec(message.payload.type)?.[0] ?? ''} ${state}`}
      dir="auto"
      aria-busy={isWriting}
      title={time.toLocaleString(locale)}
    >
      {/* In an element of its own direction: that of a message follows from its text. */}
      {person && !isContinued ? (
        <Person person={person} />
      ) : (
        <bdi class="author">{isOwn ? text('you') : (person?.name ?? botName)}</bdi>
      )}
      <Content payload={message.payload} isOwn={isOwn} isLatest={isLatest} choose={choose} />
      {!isOwn && !person && !isWriting && chat.appearance.value.feedbackEnabled && <Feedback message={message} />}
      {unsent && <Progress of={unsent} />}
    </div>
  )
}

/** Name and picture of a person who answers in the bot's place. */
function Person({ person }: { person: Participant }): JSX.Element {
  const picture = safeSource(person.pictureUrl, 'picture')
  return (
    <span class="person">
      {picture !== undefined && <img src={picture} alt="" referrerpolicy="no-referrer" />}
      <bdi>{person.name}</bdi>
    </span>
  )
}

function Feedback({ message }: { message: Shown }): JSX.Element {
  const { chat, text } = useView()
  const given = message.feedback?.value
  const rate = (value: 'positive' | 'negative') => void chat.rate(message, given === value ? undefined : value)
  return (
    <div class="feedback">
      <button
        type="button"
        aria-label={text('helpful')}
        aria-pressed={given === 'positive'}
        onClick={() => rate('positive')}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        aria-label={text('unhelpful')}
        aria-pressed={given === 'negative'}
        onClick={() => rate('negative')}
      >
        <Icon name="up" className="upside-down" />
      </button>
    </div>
  )
}

/** Says below a message that it is on its way, or why it was not sent. */
function Progress({ of: { id, failure } }: { of: Unsent }): JSX.Element {
  const { chat, text } = useView()
  // A message that is stored within a second is announced without it.
  if (failure === undefined) return <span class="visually-hidden late">{text('waiting')}</span>
  return (
    <p class="failure" role="alert">
      {text('notSent', { reason: reasonOf(failure, text) })}{' '}
      <button type="button" onClick={() => chat.outbox.retry(id)}>
        {text('retry')}
      </button>{' '}
      <button type="button" onClick={() => chat.outbox.remove(id)}>
        {text('discard')}
      </button>
    </p>
  )
}
