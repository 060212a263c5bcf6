import type { JSX } from 'preact'
import { ask } from '../api/ask.ts'
import type { EventSummary } from '../api/types.ts'
import { formatMilliseconds } from '../format.ts'
import { Select } from '../parts/choice.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { More } from '../parts/more.tsx'
import { moveBetweenRows } from '../parts/rows.ts'
import { SearchField } from '../parts/search-field.tsx'
import { Outcome } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { useNewestFirst } from '../state/newest-first.ts'
import { query, setQuery, to } from '../state/route.ts'
import { chatIsOpen, type TabProps } from './tab.ts'
import { EventPanel } from './event-panel.tsx'

type StatusChoice = EventSummary['status'] | ''
const statuses: { value: StatusChoice; label: string }[] = [
  { value: '', label: 'All outcomes' },
  { value: 'processed', label: 'Processed' },
  { value: 'failed', label: 'Failed' },
  { value: 'pending', label: 'Pending' },
  { value: 'ignored', label: 'Ignored' },
  { value: 'scheduled', label: 'Scheduled' },
  { value: 'canceled', label: 'Canceled' },
]

/** The filter in the page's address, as parameters of the API. */
function filterOfPage(): Record<string, string> {
  const names = ['status', 'type', 'conversationId', 'userId', 'text'] as const
  return Object.fromEntries(names.map((name) => [name, query.value.get(name) ?? '']).filter(([, value]) => value))
}

/** The bot's events, newest first, with the details of a selected one beside the list. */
export function EventsTab({ bot, segments: [eventId] }: TabProps): JSX.Element {
  const filter = filterOfPage()
  const key = `events ${bot.id} ${JSON.stringify(filter)}`
  const load = async (abort: AbortSignal | undefined, nextToken?: string) => {
    const query = { ...filter, pageSize: 50, nextToken }
    const page = await ask<'listBotEvents'>('GET', `/bots/${bot.id}/events`, { query, ...(abort && { abort }) })
    return { entries: page.events, nextToken: page.meta.nextToken, searchedUntil: page.searchedUntil }
  }
  const { list, older } = useNewestFirst(key, { load, momentOf: (event) => event, every: 3000 })
  return (
    <div class={`events ${eventId === undefined ? '' : 'with-event'}`}>
      <section class="event-list" aria-label="Events">
        <Filters filter={filter} />
        <Loaded of={list} lines={10}>
          {({ entries: events, nextToken, searchedUntil }) => (
            <>
              {events.length === 0 && nextToken === undefined && (
                <NoEvents isFiltered={Object.keys(filter).length > 0} />
              )}
              <ol class="plain" aria-label="Timeline" onKeyDown={moveBetweenRows}>
                {events.map((event) => (
                  <EventRow key={event.id} botId={bot.id} event={event} isOpen={event.id === eventId} />
                ))}
              </ol>
              <More of={older} nextToken={nextToken} label="Show older events">
                {searchedUntil && (
                  <span class="quiet">
                    Searched back to <Time at={searchedUntil} />
                  </span>
                )}
              </More>
            </>
          )}
        </Loaded>
      </section>
      {eventId !== undefined && <EventPanel key={eventId} bot={bot} eventId={eventId} />}
    </div>
  )
}

function Filters({ filter }: { filter: Record<string, string> }): JSX.Element {
  const others = ['type', 'conversationId', 'userId'].filter((name) => filter[name])
  return (
    <div class="toolbar">
      <SearchField
        label="Search ids, text, reasons"
        value={filter['text'] ?? ''}
        onChange={(text) => setQuery({ text })}
      />
      <Select
        label="Outcome"
        options={statuses}
        value={(filter['status'] ?? '') as StatusChoice}
        onChange={(status) => setQuery({ status })}
      />
      {others.map((name) => (
        <button
          key={name}
          type="button"
          class="chip"
          title="Remove this filter"
          onClick={() => setQuery({ [name]: '' })}
        >
          {name}: <code>{filter[name]}</code>
          <Icon name="close" />
        </button>
      ))}
    </div>
  )
}

function NoEvents({ isFiltered }: { isFiltered: boolean }): JSX.Element {
  if (isFiltered) {
    return (
      <Empty icon="search" title="No event matches">
        <button
          type="button"
          class="button"
          onClick={() => setQuery({ status: '', type: '', conversationId: '', userId: '', text: '' })}
        >
          Show all events
        </button>
      </Empty>
    )
  }
  return (
    <Empty title="No events yet">
      <p>Send the bot a message: its events appear here.</p>
      <button type="button" class="button primary" onClick={() => (chatIsOpen.value = true)}>
        <Icon name="chat" />
        Open the chat
      </button>
    </Empty>
  )
}

function EventRow(props: { botId: string; event: EventSummary; isOpen: boolean }): JSX.Element {
  const { botId, event, isOpen } = props
  return (
    <li>
      <a
        data-row
        class="event-row"
        href={to('bots', botId, 'events', event.id) + location.search}
        aria-current={isOpen ? 'true' : undefined}
      >
        <Outcome of={event.status} />
        <span class="what">
          {event.preview === undefined ? <code>{event.type}</code> : <span dir="auto">{event.preview}</span>}
          {event.preview !== undefined && <code class="quiet">{event.type}</code>}
          {event.failureReason && (
            <span class="reason" dir="auto">
              {event.failureReason}
            </span>
          )}
        </span>
        <span class="number quiet">{formatMilliseconds(event.milliseconds)}</span>
        <span class="number quiet when">
          <Time at={event.createdAt} />
        </span>
      </a>
    </li>
  )
}
