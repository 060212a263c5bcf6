import type { JSX } from 'preact'
import type { QueueState } from '../api/types.ts'
import { formatCount, plural } from '../format.ts'
import { Figures, OldestWaiting, type Figure } from '../parts/figures.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { moveBetweenRows } from '../parts/rows.ts'
import { Time } from '../parts/time.tsx'
import { useAnswer } from '../state/resource.ts'
import { to } from '../state/route.ts'
import { Page } from './page.tsx'

/** The waiting events by bot, and the workers. */
export function QueuePage(): JSX.Element {
  const queue = useAnswer<'getQueue'>('/queue', { every: 3000 })
  return (
    <Page title="Queue" about="The waiting events of this workspace">
      <Loaded of={queue}>
        {({ queue }) => (
          <>
            <Figures figures={figuresOf(queue)} />
            <WaitingBots queue={queue} />
            {queue.platform && <Platform platform={queue.platform} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

function figuresOf({ waiting, oldestWaitingAt, retrying, scheduled, failed }: QueueState): Figure[] {
  return [
    ['Waiting', formatCount(waiting), <OldestWaiting at={oldestWaitingAt} />],
    ['Retrying', formatCount(retrying), 'wait for a retry'],
    ['Scheduled', formatCount(scheduled), 'for a later time'],
    ['Failed', formatCount(failed), 'within 24 hours', failed > 0 ? 'bad' : ''],
  ]
}

function WaitingBots({ queue: { bots } }: { queue: QueueState }): JSX.Element {
  return (
    <section class="panel" aria-label="Bots with waiting events">
      <header>
        <h2>Bots with waiting events</h2>
      </header>
      {bots.length === 0 ? (
        <p class="nothing">
          <Icon name="check" /> Nothing waits.
        </p>
      ) : (
        <ol class="plain lines" onKeyDown={moveBetweenRows}>
          {bots.map(({ botId, name, waiting, oldestWaitingAt }) => (
            <li key={botId}>
              <a data-row href={`${to('bots', botId, 'events')}?status=pending`}>
                <bdi>{name}</bdi>
              </a>
              <span class="number">{plural(waiting, 'event')}</span>
              <span class="number quiet">{oldestWaitingAt && <Time at={oldestWaitingAt} />}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

function Platform({ platform }: { platform: NonNullable<QueueState['platform']> }): JSX.Element {
  const { jobs, workers, backEnd } = platform
  const states = Object.entries(jobs).map(([state, count]) => `${formatCount(count)} ${state}`)
  return (
    <section class="panel" aria-label="Workers">
      <header>
        <h2>Workers</h2>
        <span class="quiet">
          jobs on {backEnd === 'redis' ? 'Redis' : 'PostgreSQL'}: {states.join(', ')}
        </span>
      </header>
      {workers.length === 0 ? (
        <Empty icon="alert" title="No worker runs">
          <p>
            Messages are stored and wait. Start a worker: <code>npm run worker</code>, or add a <code>worker</code>{' '}
            process on your platform.
          </p>
        </Empty>
      ) : (
        <ol class="plain lines">
          {workers.map(({ id, host, startedAt, slots, inUse }) => (
            <li key={id}>
              <span>
                <code>{host}</code>
              </span>
              <span class="number">
                <meter min={0} max={slots} value={inUse} aria-label="Conversations handled now" /> {inUse} of {slots}
              </span>
              <span class="number quiet">
                started <Time at={startedAt} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
