import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { allPages } from '../api/all-pages.ts'
import { ask } from '../api/ask.ts'
import type { Version } from '../api/types.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded, Refusal, Skeleton } from '../parts/loaded.tsx'
import { loadPart } from '../parts/load-part.ts'
import { moveBetweenRows } from '../parts/rows.ts'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { attempt } from '../state/notices.ts'
import { useResource } from '../state/resource.ts'
import { to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import { isDark } from '../state/theme.ts'
import type { TabProps } from './tab.ts'

/** The versions of the code with their differences and a rollback to each. */
export function VersionsTab({ bot, reloadBot, segments: [chosenId] }: TabProps): JSX.Element {
  const [asksFor, setAsksFor] = useState<'rollback' | Version>()
  const versions = useResource(`versions ${bot.id}`, (abort) => loadVersions(bot.id, abort), { every: 10_000 })
  const carryOut = async () => {
    const isRollback = asksFor === 'rollback'
    const path = isRollback ? `/bots/${bot.id}/rollback` : `/bots/${bot.id}/versions/deploy`
    const body = isRollback || !asksFor ? {} : { versionId: asksFor.id }
    await attempt(() => ask('POST', path, { body }), 'The version is deployed and handles all events from now on.')
    versions.reload()
    reloadBot()
  }
  return (
    <section aria-label="Versions">
      <Loaded of={versions}>
        {(versions) => {
          if (versions.length === 0) {
            return (
              <Empty title="No versions yet">
                <a class="button primary" href={to('bots', bot.id, 'code')}>
                  Write code
                </a>
              </Empty>
            )
          }
          const deployed = versions.find(({ isDeployed }) => isDeployed)
          const hasFormer = versions.some(
            ({ id, createdAt }) => deployed && id !== deployed.id && createdAt < deployed.createdAt,
          )
          const chosen = versions.find(({ id }) => id === chosenId)
          return (
            <>
              <div class="toolbar">
                <p class="quiet">Choose a version to see its changes.</p>
                <span class="spacer" />
                {hasFormer && mayChange.value && (
                  <button type="button" class="button" onClick={() => setAsksFor('rollback')}>
                    <Icon name="replay" />
                    Roll back
                  </button>
                )}
              </div>
              <ol class="plain versions" aria-label="Versions" onKeyDown={moveBetweenRows}>
                {versions.map((version) => (
                  <li key={version.id} class={version.id === chosenId ? 'chosen' : ''}>
                    <a data-row href={to('bots', bot.id, 'versions', version.id)}>
                      <code>{version.hash.slice(0, 7)}</code>
                      {!version.hash.startsWith(version.name) && <strong dir="auto">{version.name}</strong>}
                      <span class="quiet" dir="auto">
                        {version.description ?? [...version.hooks, ...version.actions].join(', ')}
                      </span>
                    </a>
                    {version.disabledReason !== undefined && <Status tone="bad">disabled</Status>}
                    {version.isDeployed && <Status tone="good">deployed</Status>}
                    <span class="number quiet">
                      {version.author && `${version.author.email ?? version.author.name}, `}
                      <Time at={version.createdAt} />
                    </span>
                    {!version.isDeployed && mayChange.value ? (
                      <button type="button" class="button small" onClick={() => setAsksFor(version)}>
                        Deploy
                      </button>
                    ) : (
                      <span />
                    )}
                  </li>
                ))}
              </ol>
              {chosen && (
                <Difference key={chosen.id} botId={bot.id} chosen={chosen} against={against(versions, chosen)} />
              )}
            </>
          )
        }}
      </Loaded>
      {asksFor && (
        <Confirm
          title={asksFor === 'rollback' ? 'Roll back' : `Deploy ${asksFor.name}`}
          action={asksFor === 'rollback' ? 'Roll back' : 'Deploy'}
          onClose={() => setAsksFor(undefined)}
          onSubmit={carryOut}
        >
          {asksFor === 'rollback' ? (
            <p>The version before the deployed one handles all events from now on.</p>
          ) : (
            <p>
              The code of <Time at={asksFor.createdAt} /> handles all events from now on. Nothing else of the bot
              changes.
            </p>
          )}
        </Confirm>
      )}
    </section>
  )
}

/** All versions that are kept, the newest first: the deployed one may be old. */
function loadVersions(botId: string, abort: AbortSignal): Promise<Version[]> {
  return allPages(async (nextToken) => {
    const query = { pageSize: 100, nextToken }
    const page = await ask<'listBotVersions'>('GET', `/bots/${botId}/versions`, { query, abort })
    return { items: page.versions, nextToken: page.meta.nextToken }
  })
}

/** The version to compare with: the deployed one; for the deployed one itself, its predecessor. */
function against(versions: Version[], chosen: Version): Version | undefined {
  if (!chosen.isDeployed) return versions.find(({ isDeployed }) => isDeployed)
  return versions[versions.indexOf(chosen) + 1]
}

interface DifferenceProps {
  botId: string
  chosen: Version
  against: Version | undefined
}

function Difference({ botId, chosen, against }: DifferenceProps): JSX.Element {
  const section = useRef<HTMLElement>(null)
  const container = useRef<HTMLDivElement>(null)
  const [isReady, setIsReady] = useState(false)
  const [error, setError] = useState<unknown>()
  const [round, setRound] = useState(0)
  const load = (id: string, abort: AbortSignal) =>
    ask<'getBotVersion'>('GET', `/bots/${botId}/versions/${id}`, { abort })
  const sources = useResource(`difference ${chosen.id} ${against?.id}`, async (abort) => {
    const [after, before] = await Promise.all([load(chosen.id, abort), against && load(against.id, abort)])
    return { after: after.version.code, before: before?.version.code ?? '' }
  })
  // It may be below many versions.
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [])
  // The difference goes from the older to the newer version, whichever is deployed.
  const isOlder = against !== undefined && chosen.createdAt < against.createdAt
  useEffect(() => {
    if (!sources.data) return
    const { before, after } = sources.data
    let opened: { dispose(): void } | undefined
    let isGone = false
    setError(undefined)
    const open = async () => {
      const { openDifference } = await loadPart(() => import('../editor/open-difference.ts'))
      if (isGone) return
      setIsReady(true)
      opened = isOlder
        ? openDifference(container.current!, after, before)
        : openDifference(container.current!, before, after)
    }
    open().catch((reason: unknown) => !isGone && setError(reason))
    return () => {
      isGone = true
      opened?.dispose()
    }
    // Removed lines keep the colours of their first rendering, so a change of theme opens the view anew.
  }, [sources.data, isDark.value, round])
  const [older, newer] = isOlder ? [chosen, against] : [against, chosen]
  return (
    <section class="difference" aria-label="Difference" ref={section}>
      <h2>
        {older ? <code>{older.hash.slice(0, 7)}</code> : 'nothing'} → <code>{newer?.hash.slice(0, 7)}</code>
      </h2>
      <Loaded of={sources}>{() => null}</Loaded>
      <div class="editor" ref={container}>
        {error !== undefined && <Refusal error={error} reload={() => setRound(round + 1)} />}
        {!isReady && error === undefined && <Skeleton lines={8} />}
      </div>
    </section>
  )
}
