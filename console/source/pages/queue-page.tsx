import type { ComponentChildren, JSX } from 'preact'
import type { QueueState } from '../api/types.ts'
import { formatCount, plural } from '../format.ts'
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
            <dl class="figures">
              <Figure label="Waiting" value={queue.waiting}>
                {queue.oldestWaitingAt ? (
                  <>
                    the oldest since <Time at={queue.oldestWaitingAt} />
                  </>
                ) : (
                  'no events are late'
                )}
              </Figure>
              <Figure label="Retrying" value={queue.retrying}>
                wait for a retry
              </Figure>
              <Figure label="Scheduled" value={queue.scheduled}>
                for a later time
              </Figure>
              <Figure label="Failed" value={queue.failed} tone={queue.failed > 0 ? 'bad' : ''}>
                within 24 hours
              </Figure>
            </dl>
            <WaitingBots queue={queue} />
            {queue.platform && <Platform platform={queue.platform} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Figure(props: { label: string; value: number; tone?: string; children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{props.label}</dt>
      <dd class={props.tone ?? ''}>{formatCount(props.value)}</dd>
      <dd class="note">{props.children}</dd>
    </div>
  )
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
                {name}
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
