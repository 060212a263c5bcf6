import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Picture } from '../conversations/picture.tsx'
import { now, shortId } from '../format.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { hasNoFocus } from '../parts/has-no-focus.ts'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { moveBetweenRows } from '../parts/rows.ts'
import { SearchField } from '../parts/search-field.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { setQuery, to } from '../state/route.ts'
import { membership } from '../state/session.ts'
import { queues, type Listed, type OpenQueue, type Queue, type QueueName } from './queues.ts'

interface QueueListProps {
  queue: Queue
  text: string
  found: OpenQueue
  counts: Partial<Record<QueueName, string>>
  /** The conversation beside the list. */
  openId: string | undefined
}

/** The queues, a search, and the handovers of the chosen queue. One row is in the order of the Tab key: arrows move on. */
export function QueueList({ queue, text, found, counts, openId }: QueueListProps): JSX.Element {
  return (
    <section class="inbox-list" aria-label={queue.label}>
      <div class="inbox-filters">
        <div class="segmented" role="group" aria-label="Queue">
          {queues.map(({ name, label }) => (
            <button
              key={name}
              type="button"
              aria-pressed={queue.name === name}
              onClick={() => setQuery({ queue: name === 'waiting' ? '' : name })}
            >
              {label}
              {counts[name] && <span class="count">{counts[name]}</span>}
            </button>
          ))}
        </div>
        <SearchField label="Search handovers" value={text} onChange={(text) => setQuery({ text })} />
      </div>
      <Loaded of={found.pages}>
        {() => (
          <>
            {found.listed.length > 0 ? (
              <Rows listed={found.listed} openId={openId} />
            ) : text !== '' ? (
              <Empty icon="search" title={found.loadMore ? 'Nothing found so far' : 'No handover matches'} />
            ) : (
              <p class="nothing">
                <Icon name="check" /> {queue.nothing}
              </p>
            )}
            {found.loadMore && (
              <p class="more">
                <ActionButton kind="small" isInactive={found.isLoadingMore} onClick={found.loadMore}>
                  {text === '' ? 'Show more' : 'Search on'}
                </ActionButton>
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}

function Rows({ listed, openId }: { listed: Listed[]; openId: string | undefined }): JSX.Element {
  const list = useRef<HTMLOListElement>(null)
  /** The row that had the focus last, and its position. */
  const [focused, setFocused] = useState<string>()
  const lost = useRef<number>(undefined)
  const ids = listed.map(({ handover }) => handover.id)
  const inTabOrder = listed.find(
    ({ handover }) => handover.id === focused || (focused === undefined && handover.conversationId === openId),
  )
  const tabStop = inTabOrder?.handover.id ?? ids[0]
  // A row with the focus disappears when its handover leaves the queue; the next one gets the focus.
  useEffect(() => {
    if (lost.current === undefined || !hasNoFocus()) return
    const rows = list.current?.querySelectorAll<HTMLElement>('[data-row]')
    rows?.[Math.min(lost.current, rows.length - 1)]?.focus()
  }, [ids.join(' ')])
  return (
    <ol
      class="plain"
      ref={list}
      aria-label="Handovers"
      onKeyDown={moveBetweenRows}
      onFocusCapture={({ target }) => {
        const id = target instanceof HTMLElement ? target.dataset['row'] : undefined
        if (id === undefined) return
        setFocused(id)
        lost.current = ids.indexOf(id)
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget) lost.current = undefined
      }}
    >
      {listed.map((each) => (
        <Row
          key={each.handover.id}
          {...each}
          isOpen={each.handover.conversationId === openId}
          isTabStop={each.handover.id === tabStop}
        />
      ))}
    </ol>
  )
}

/** The age from which a conversation without a member is marked: about as long as users wait patiently. */
const patienceMilliseconds = 5 * 60_000

function Row({ bot, handover, isOpen, isTabStop }: Listed & { isOpen: boolean; isTabStop: boolean }): JSX.Element {
  const { id, conversationId, user, title, integration, createdAt, endedAt, lastMessage } = handover
  // The transcript beside the list shows them.
  const unreadCount = isOpen ? 0 : handover.unreadCount
  const name = user?.name ?? shortId(user?.id ?? conversationId)
  const waitsLong = handover.status === 'pending' && now.value - Date.parse(createdAt) > patienceMilliseconds
  return (
    <li>
      <a
        data-row={id}
        class={`inbox-row ${unreadCount > 0 ? 'unread' : ''}`}
        href={to('inbox', bot.id, conversationId) + location.search}
        tabIndex={isTabStop ? 0 : -1}
        aria-current={isOpen ? 'true' : undefined}
      >
        <Picture name={name} url={undefined} />
        <span class="who" dir="auto">
          {name}
        </span>
        <span class={`number when ${waitsLong ? 'warn' : 'quiet'}`}>
          <Time at={endedAt ?? createdAt} />
        </span>
        <span class="what" dir="auto">
          {lastMessage?.isFromUser === false ? (
            <>
              You: <bdi>{lastMessage.preview}</bdi>
            </>
          ) : (
            (lastMessage?.preview ?? title ?? 'Handed over')
          )}
        </span>
        {unreadCount > 0 && (
          <span class="count">
            {unreadCount === 99 ? '99+' : unreadCount}
            <span class="visually-hidden"> unread</span>
          </span>
        )}
        <span class="facts quiet">
          <State handover={handover} />
          <span>
            {lastMessage && title && (
              <>
                <bdi>{title}</bdi>
                {', '}
              </>
            )}
            <bdi>{bot.name}</bdi>
            {integration && `, ${integration}`}
          </span>
        </span>
      </a>
    </li>
  )
}

function State({ handover: { status, member } }: Pick<Listed, 'handover'>): JSX.Element {
  if (status === 'pending') return <Status tone="warn">Waiting</Status>
  if (status === 'expired') return <Status tone="quiet">Expired</Status>
  const who = member?.id === membership.value?.id ? 'You' : (member?.name ?? 'A member')
  if (status === 'resolved') return <Status tone="quiet">{who === 'You' ? 'You answered' : `${who} answered`}</Status>
  return <Status tone="good">{who === 'You' ? 'You answer' : `${who} answers`}</Status>
}
