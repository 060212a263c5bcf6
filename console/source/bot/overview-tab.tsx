import type { JSX } from 'preact'
import type { BotHealth, Window } from '../api/types.ts'
import { formatCount, formatMilliseconds, formatShare } from '../format.ts'
import { Chart } from '../parts/chart.tsx'
import { Segmented } from '../parts/choice.tsx'
import { Figures, OldestWaiting, type Figure } from '../parts/figures.tsx'
import { Icon } from '../parts/icons.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Time } from '../parts/time.tsx'
import { useAnswer } from '../state/resource.ts'
import { query, setQuery, to } from '../state/route.ts'
import type { TabProps } from './tab.ts'

const windows = ['1h', '24h', '7d'] as const satisfies Window[]
const labels: Record<Window, string> = { '1h': '1 hour', '24h': '24 hours', '7d': '7 days' }

export function windowOfPage(usual: Window): Window {
  const asked = query.value.get('window')
  return windows.find((one) => one === asked) ?? usual
}

/** The choice of the period that the page shows; the address stores it. */
export function WindowChoice({ value }: { value: Window }): JSX.Element {
  const options = windows.map((value) => ({ value, label: labels[value] }))
  return <Segmented label="How far back" options={options} value={value} onChange={(window) => setQuery({ window })} />
}

/** The bot's metrics: figures, and charts of its events and their durations. */
export function OverviewTab({ bot }: TabProps): JSX.Element {
  const window = windowOfPage('1h')
  const every = window === '1h' ? 5000 : 30_000
  const health = useAnswer<'getBotHealth'>(`/bots/${bot.id}/health`, { query: { window }, every })
  return (
    <>
      {bot.version?.disabledReason !== undefined && <OutOfService reason={bot.version.disabledReason} botId={bot.id} />}
      <div class="toolbar">
        <WindowChoice value={window} />
      </div>
      <Loaded of={health} lines={8}>
        {({ health }) => (
          <>
            <Figures figures={figuresOf(health)} />
            <div class="charts">
              <EventsChart health={health} />
              <TimesChart health={health} />
            </div>
          </>
        )}
      </Loaded>
      <LatestErrors botId={bot.id} window={window} />
    </>
  )
}

function OutOfService({ reason, botId }: { reason: string; botId: string }): JSX.Element {
  return (
    <div class="refusal" role="alert">
      <Icon name="alert" />
      <span>
        This version is disabled: {reason}. <a href={to('bots', botId, 'code')}>Correct and deploy it</a>, or{' '}
        <a href={to('bots', botId, 'versions')}>roll back to another version</a>.
      </span>
    </div>
  )
}

function figuresOf({ events, errorRate, waiting, oldestWaitingAt, p50, p95, queueP50, queueP95 }: BotHealth): Figure[] {
  const { processed, failed, ignored } = events
  return [
    ['Events', formatCount(processed + failed + ignored), `${formatCount(ignored)} ignored`],
    ['Error rate', formatShare(errorRate), `${formatCount(failed)} failed`, failed > 0 ? 'bad' : ''],
    ['Handled in', formatMilliseconds(p50), `95 % within ${formatMilliseconds(p95)}`],
    ['Time in queue', formatMilliseconds(queueP50), `95 % within ${formatMilliseconds(queueP95)}`],
    ['Waiting now', formatCount(waiting), <OldestWaiting at={oldestWaitingAt} />],
  ]
}

function EventsChart({ health: { buckets, bucketSeconds } }: { health: BotHealth }): JSX.Element {
  const per = bucketSeconds === 60 ? 'minute' : bucketSeconds === 900 ? '15 minutes' : '2 hours'
  const done = buckets.map(({ processed, ignored }) => processed + ignored)
  return (
    <Chart
      title={`Events per ${per}`}
      times={buckets.map(({ at }) => Date.parse(at) / 1000)}
      kind="bars"
      series={[
        { label: 'handled', tone: 'accent', values: done },
        { label: 'failed', tone: 'bad', values: buckets.map(({ failed }) => failed) },
      ]}
      format={(value) => (value === null ? '–' : formatCount(value))}
    />
  )
}

function TimesChart({ health: { buckets } }: { health: BotHealth }): JSX.Element {
  return (
    <Chart
      title="Time to handle an event"
      times={buckets.map(({ at }) => Date.parse(at) / 1000)}
      kind="lines"
      series={[
        { label: 'median', tone: 'accent', values: buckets.map(({ p50 }) => p50) },
        { label: '95 %', tone: 'second', values: buckets.map(({ p95 }) => p95) },
        { label: 'queue, 95 %', tone: 'quiet', values: buckets.map(({ queueP95 }) => queueP95) },
      ]}
      format={formatMilliseconds}
    />
  )
}

const maxErrors = 3

function LatestErrors({ botId, window }: { botId: string; window: Window }): JSX.Element {
  const errors = useAnswer<'listBotErrors'>(`/bots/${botId}/errors`, { query: { window }, every: 30_000 })
  return (
    <section class="panel" aria-label="Errors">
      <header>
        <h2>Errors</h2>
        <a href={`${to('bots', botId, 'errors')}?window=${window}`}>All errors</a>
      </header>
      <Loaded of={errors} lines={2}>
        {({ errors }) =>
          errors.length === 0 ? (
            <p class="nothing">
              <Icon name="check" /> No event failed in this time.
            </p>
          ) : (
            <ul class="plain">
              {errors.slice(0, maxErrors).map(({ id, message, count, lastAt, eventIds: [eventId = ''] }) => (
                <li key={id}>
                  <a href={to('bots', botId, 'events', eventId)}>
                    <code>{message}</code>
                  </a>
                  <span class="quiet">
                    {formatCount(count)}×, last <Time at={lastAt} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}
