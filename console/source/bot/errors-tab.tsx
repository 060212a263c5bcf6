import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { Bot, ErrorGroup } from '../api/types.ts'
import { formatCount, shortId } from '../format.ts'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { moveBetweenRows } from '../parts/rows.ts'
import { Time } from '../parts/time.tsx'
import { attempt } from '../state/notices.ts'
import { useResource } from '../state/resource.ts'
import { to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import type { TabProps } from './tab.ts'
import { WindowChoice, windowOfPage } from './overview-tab.tsx'
import { withPlaces } from './stack.tsx'

/** Why events failed: what is alike together, most frequent first. */
export function ErrorsTab({ bot }: TabProps): JSX.Element {
  const window = windowOfPage('24h')
  const errors = useResource(
    `errors ${bot.id} ${window}`,
    (abort) =>
      ask<{ errors: ErrorGroup[]; isComplete: boolean; looked: number }>('GET', `/bots/${bot.id}/errors`, {
        query: { window },
        abort,
      }),
    { every: 10_000 },
  )
  return (
    <section aria-label="Errors">
      <div class="toolbar">
        <WindowChoice value={window} />
      </div>
      <Loaded of={errors}>
        {({ errors: groups, isComplete, looked }) =>
          groups.length === 0 ? (
            <Empty icon="check" title="No event failed in this time" />
          ) : (
            <>
              <ol class="plain error-groups" onKeyDown={moveBetweenRows}>
                {groups.map((group) => (
                  <Group key={group.id} bot={bot} group={group} reload={errors.reload} />
                ))}
              </ol>
              {!isComplete && <p class="quiet">The newest {formatCount(looked)} failures were looked at.</p>}
            </>
          )
        }
      </Loaded>
    </section>
  )
}

/** Replays what failed with the words of a group since its first failure, as many at once as the platform takes. */
async function replayAll(bot: Bot, group: ErrorGroup): Promise<void> {
  // What fails again fails later, and is not taken once more.
  const beforeDate = new Date().toISOString()
  const afterDate = new Date(Date.parse(group.firstAt) - 1).toISOString()
  let replayed = 0
  do {
    const body = { reason: group.words, afterDate, beforeDate }
    ;({ replayed } = await ask<{ replayed: number }>('POST', `/bots/${bot.id}/failed-events/replay`, { body }))
  } while (replayed > 0)
}

function Group({ bot, group, reload }: { bot: Bot; group: ErrorGroup; reload: () => void }): JSX.Element {
  const [isBusy, setIsBusy] = useState(false)
  const replay = async () => {
    setIsBusy(true)
    await attempt(() => replayAll(bot, group), `What failed with “${group.words}” is handled again.`)
    setIsBusy(false)
    reload()
  }
  const inService = bot.version && group.versionIds.includes(bot.version.id)
  return (
    <li class="panel error-group">
      <div>
        <p class="error-message">{withPlaces(bot.id, group.example)}</p>
        <p class="quiet facts">
          <span>
            first <Time at={group.firstAt} />, last <Time at={group.lastAt} />
          </span>
          <span>{inService ? 'in the version in service' : 'not in the version in service'}</span>
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
          <button type="button" class="button small" disabled={isBusy} onClick={replay}>
            <Icon name="replay" />
            Replay {group.replayable === 1 ? 'it' : `all ${formatCount(group.replayable)}`}
          </button>
        )}
      </div>
    </li>
  )
}
