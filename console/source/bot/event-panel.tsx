import type { ComponentChildren, JSX } from 'preact'
import { ask, Failure } from '../api/ask.ts'
import type { Bot, EventDetail } from '../api/types.ts'
import { formatMilliseconds, shortId } from '../format.ts'
import { Icon } from '../parts/icons.tsx'
import { Json } from '../parts/json.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { Section, SidePanel } from '../parts/side-panel.tsx'
import { Outcome } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { attempt } from '../state/notices.ts'
import { useAnswer } from '../state/resource.ts'
import { to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import { LogLines } from './log-lines.tsx'
import { Stack } from './stack.tsx'
import { flowsOf } from '../flows/event-path.ts'
import { Waterfall } from './waterfall.tsx'

/** The details of one event. Escape closes the panel. */
export function EventPanel({ bot, eventId }: { bot: Bot; eventId: string }): JSX.Element {
  const event = useAnswer<'getBotEvent'>(`/bots/${bot.id}/events/${eventId}`, { every: 3000 })
  const back = to('bots', bot.id, 'events') + location.search
  const isGone = event.error instanceof Failure && event.error.status === 404
  return (
    <SidePanel label="Event" back={back} backLabel="Events" id={eventId} shownId={shortId(eventId)}>
      {isGone ? (
        <Empty title="Event not found">
          <p>Events are deleted after their retention period.</p>
        </Empty>
      ) : (
        <Loaded of={event} lines={8}>
          {({ event }) => <EventBody bot={bot} event={event} />}
        </Loaded>
      )}
    </SidePanel>
  )
}

function EventBody({ bot, event }: { bot: Bot; event: EventDetail }): JSX.Element {
  const { id, type, payload, message, result } = event
  const whole = { id, type, payload, ...(message && { message }), ...(result !== undefined && { result }) }
  return (
    <>
      <div class="event-title">
        <h2>{event.type}</h2>
        <Outcome of={event.status} />
        {event.isReplayable && mayChange.value && <Replay botId={bot.id} eventId={event.id} />}
      </div>
      {event.preview && <blockquote dir="auto">{event.preview}</blockquote>}
      <Facts botId={bot.id} event={event} />
      {event.error ? (
        <Section title="Error">
          <p class="error-message" dir="auto">
            {event.error.message}
          </p>
          <Stack botId={bot.id} stack={event.error.stack} />
        </Section>
      ) : (
        event.failureReason && (
          <Section title="Why it failed">
            <p class="error-message">{event.failureReason}</p>
          </Section>
        )
      )}
      {event.runs.length > 0 && (
        <Section title="Where the time went">
          {event.runs.map((run) => (
            <Waterfall key={run.attempt} run={run} isOnly={event.runs.length === 1} />
          ))}
          {flowsOf(event.runs).map((flow) => (
            <a key={flow} href={`${to('bots', bot.id, 'flows', flow)}?event=${event.id}`}>
              Path in the flow {flow}
            </a>
          ))}
        </Section>
      )}
      <Section title="Log">
        {event.logs.length > 0 ? (
          <LogLines botId={bot.id} lines={event.logs} />
        ) : (
          <p class="nothing">The event has no log lines.</p>
        )}
      </Section>
      <Section title="Event">
        <Json value={whole} label="The event as JSON" />
      </Section>
    </>
  )
}

function Replay({ botId, eventId }: { botId: string; eventId: string }): JSX.Element {
  const replay = () =>
    attempt(
      () => ask('POST', `/bots/${botId}/failed-events/${eventId}/replay`, { body: {} }),
      'The event is handled again, with the deployed version.',
    )
  return (
    <button type="button" class="button small" onClick={replay}>
      <Icon name="replay" />
      Replay
    </button>
  )
}

function Facts({ botId, event }: { botId: string; event: EventDetail }): JSX.Element {
  const filtered = (name: string, value: string) => (
    <a href={`${to('bots', botId, 'events')}?${name}=${encodeURIComponent(value)}`} title={value}>
      <code>{shortId(value)}</code>
    </a>
  )
  const facts: [label: string, value: ComponentChildren][] = [
    ['Created', <Time at={event.createdAt} />],
    ['In queue', formatMilliseconds(event.queueMilliseconds)],
    ['Handled in', formatMilliseconds(event.milliseconds)],
    ['Processor', formatMilliseconds(event.cpuMilliseconds)],
    ['Attempts', String(event.attempts)],
    ['Conversation', event.conversationId && filtered('conversationId', event.conversationId)],
    ['User', event.userId && filtered('userId', event.userId)],
    ['Integration', event.integration],
    ['Version', event.versionId && <code title={event.versionId}>{shortId(event.versionId)}</code>],
  ]
  return (
    <dl class="facts-grid">
      {facts
        .filter(([, value]) => value)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
