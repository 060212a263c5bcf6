import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask, Failure } from '../api/ask.ts'
import type { Bot, ErrorGroup } from '../api/types.ts'
import { formatCount, plural, shortId } from '../format.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { moveBetweenRows } from '../parts/rows.ts'
import { Time } from '../parts/time.tsx'
import { attempt } from '../state/notices.ts'
import { useAnswer } from '../state/resource.ts'
import { to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import type { TabProps } from './tab.ts'
import { WindowChoice, windowOfPage } from './overview-tab.tsx'
import { withSourceLinks } from './stack.tsx'

/** The reasons of failed events, grouped by similarity, most frequent first. */
export function ErrorsTab({ bot }: TabProps): JSX.Element {
  const window = windowOfPage('24h')
  const errors = useAnswer<'listBotErrors'>(`/bots/${bot.id}/errors`, { query: { window }, every: 10_000 })
  return (
    <section aria-label="Errors">
      <div class="toolbar">
        <WindowChoice value={window} />
      </div>
      <Loaded of={errors}>
        {({ errors: groups, isComplete, looked, from }) =>
          groups.length === 0 ? (
            <Empty icon="check" title="No event failed in this time" />
          ) : (
            <>
              <ol class="plain error-groups" onKeyDown={moveBetweenRows}>
                {groups.map((group) => (
                  <Group
                    key={group.id}
                    bot={bot}
                    group={group}
                    since={isComplete ? group.firstAt : from}
                    reload={errors.reload}
                  />
                ))}
              </ol>
              {!isComplete && <p class="quiet">The newest {formatCount(looked)} failures were read.</p>}
            </>
          )
        }
      </Loaded>
    </section>
  )
}

/** Replays the events that failed with a given reason since a time, batch by batch. Returns their number. */
async function replayAll(bot: Bot, reason: string, since: string): Promise<number> {
  // An event that fails again fails after this time, so it is not replayed twice.
  const beforeDate = new Date().toISOString()
  const afterDate = new Date(Date.parse(since) - 1).toISOString()
  const path = `/bots/${bot.id}/failed-events/replay`
  let total = 0
  for (;;) {
    const { replayed } = await ask<'replayFailedEvents'>('POST', path, {
      body: { reason, afterDate, beforeDate },
    }).catch((error: unknown) => {
      if (!(error instanceof Failure && error.type === 'RateLimited')) throw error
      throw new Error(`${plural(total, 'event')} handled again. ${error.message}: replay the others later.`)
    })
    if (replayed === 0) return total
    total += replayed
  }
}

async function replayEach(bot: Bot, eventIds: string[]): Promise<number> {
  await Promise.all(eventIds.map((id) => ask('POST', `/bots/${bot.id}/failed-events/${id}/replay`, { body: {} })))
  return eventIds.length
}

interface GroupProps {
  bot: Bot
  group: ErrorGroup
  /** The start of the period in which its events failed. */
  since: string
  reload: () => void
}

function Group({ bot, group, since, reload }: GroupProps): JSX.Element {
  const [isBusy, setIsBusy] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const hasMore = group.words !== '' && group.replayable > group.eventIds.length
  const replay = async () => {
    setIsBusy(true)
    await attempt(
      () => (hasMore ? replayAll(bot, group.words, since) : replayEach(bot, group.eventIds)),
      (count) => `${plural(count, 'event')} handled again.`,
    )
    setIsBusy(false)
    reload()
  }
  const inService = bot.version && group.versionIds.includes(bot.version.id)
  return (
    <li class="panel error-group">
      <div>
        <p class="error-message">{withSourceLinks(bot.id, group.example)}</p>
        <p class="quiet facts">
          <span>
            first <Time at={group.firstAt} />, last <Time at={group.lastAt} />
          </span>
          <span>{inService ? 'in the deployed version' : 'not in the deployed version'}</span>
        </p>
        <p class="facts">
          {group.eventIds.map((id, index) => (
            <a key={id} href={to('bots', bot.id, 'events', id)} {...(index === 0 && { 'data-row': true })}>
              <code>{shortId(id)}</code>
            </a>
          ))}
        </p>
      </div>
      <div class="error-count">
        <strong>{formatCount(group.count)}</strong>
        <span class="quiet">{group.count === 1 ? 'event' : 'events'}</span>
        {group.replayable > 0 && mayChange.value && (
          <ActionButton kind="small" isInactive={isBusy} onClick={() => (hasMore ? setIsAsking(true) : void replay())}>
            <Icon name="replay" />
            Replay {hasMore ? `all ${formatCount(group.replayable)}` : plural(group.eventIds.length, 'event')}
          </ActionButton>
        )}
      </div>
      {isAsking && (
        <Confirm title="Replay all" action="Replay" onClose={() => setIsAsking(false)} onSubmit={replay}>
          <p>
            Every event that failed since <Time at={since} /> with this text in its reason is handled again, including
            events of other groups:
          </p>
          <p>
            <code>{group.words}</code>
          </p>
        </Confirm>
      )}
    </li>
  )
}
