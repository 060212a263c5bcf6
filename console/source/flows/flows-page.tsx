import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { Flow } from '../../../shared/flows/flow.ts'
import type { Bot, EventDetail, VersionWithCode } from '../api/types.ts'
import { madeElsewhere } from '../bot/made-elsewhere.ts'
import type { TabProps } from '../bot/tab.ts'
import { plural, shortId } from '../format.ts'
import { Empty, Loaded, Skeleton } from '../parts/loaded.tsx'
import { moveBetweenRows } from '../parts/rows.ts'
import { Status } from '../parts/status.tsx'
import { useAnswer } from '../state/resource.ts'
import { query, to } from '../state/route.ts'
import { visitsOf, type Visit } from './event-path.ts'
import { FlowEditor } from './flow-editor.tsx'
import { FlowHeader, FlowPage } from './flow-page.tsx'
import { firstFlow } from './flow-text.ts'
import { beginningOf } from './use-flow-editor.ts'
import './flows.css'

/**
 * The flows of the deployed version, or one of them. With `?event=`, those of the version that handled the event, with
 * its path.
 */
export function FlowsPage({ bot, reloadBot, segments: [flowId] }: TabProps): JSX.Element {
  const eventId = query.value.get('event') ?? undefined
  const event = useAnswer<'getBotEvent'>(eventId && `/bots/${bot.id}/events/${eventId}`)
  const isKnown = eventId === undefined || event.data !== undefined || event.error !== undefined
  const versionId = event.data?.event.versionId ?? bot.version?.id
  const version = useAnswer<'getBotVersion'>(
    isKnown && versionId !== undefined ? `/bots/${bot.id}/versions/${versionId}` : undefined,
  )
  const waiting = useAnswer<'getFlowPositions'>(`/bots/${bot.id}/flow-positions`, { every: 10_000 })
  const waits = new Map(
    waiting.data?.positions.map(({ flow, node, conversations }) => [`${flow}/${node}`, conversations]),
  )
  const visits = event.data ? visitsOf(event.data.event.runs) : []
  // After a deployment the editor stays, with its cursor and its history, until the new version is loaded.
  const last = useRef(version.data)
  last.current = version.data ?? (query.value.has('edit') ? last.current : undefined)
  const shown = last.current
  // Until the bot is loaded again after a deployment here, the page does not know what is deployed.
  const replaced = useRef<string>(undefined)
  const isReplaced = replaced.current === (bot.version?.id ?? noVersion)
  const onDeployed = () => {
    replaced.current = bot.version?.id ?? noVersion
    reloadBot()
  }
  const parts = { bot, flowId, waits, onDeployed }
  return (
    <section class="flows" aria-label="Flows">
      {eventId !== undefined && (
        <EventNote
          botId={bot.id}
          eventId={eventId}
          event={event.data?.event}
          isDeployed={versionId === bot.version?.id}
          flowId={flowId}
        />
      )}
      {bot.version ? (
        <Loaded of={{ ...version, data: shown }}>
          {(answer) => (
            <FlowsOf
              {...parts}
              version={answer.version}
              visits={visits}
              isCurrent={shown === version.data && !isReplaced}
            />
          )}
        </Loaded>
      ) : (
        <FlowsOf {...parts} version={undefined} visits={visits} isCurrent={!isReplaced} />
      )}
    </section>
  )
}

/** In place of the id of a version. */
const noVersion = 'none'

interface FlowsOfProps {
  bot: Bot
  flowId: string | undefined
  /** Undefined for a bot without a version. */
  version: VersionWithCode | undefined
  /** Whether the version is the one to show, and not the one before it. */
  isCurrent: boolean
  waits: ReadonlyMap<string, number>
  visits: Visit[]
  onDeployed: () => void
}

/** The flows of a version, one of them, or its editor, as the address says. */
function FlowsOf(props: FlowsOfProps): JSX.Element {
  const { bot, flowId, version, isCurrent, waits, visits, onDeployed } = props
  const isOfEvent = query.value.has('event')
  const flows = (version?.flows ?? []) as unknown as Flow[]
  const inCode = version?.hasFlowsInCode ? 'The code exports these flows: change them there.' : undefined
  const made = isOfEvent ? undefined : (madeElsewhere(bot.version, version?.code ?? '') ?? inCode)
  const mayEdit = !isOfEvent && made === undefined
  if (flowId !== undefined) return <OneFlow {...props} flowId={flowId} flows={flows} made={made} mayEdit={mayEdit} />
  if (mayEdit && query.value.has('new')) {
    const flow = firstFlow(freeId(flows))
    const fixed = { isNew: true, isRemovable: false, layout: {} }
    return (
      <>
        <FlowHeader botId={bot.id} title="New flow" />
        <FlowEditor bot={bot} flow={flow} {...fixed} waits={waits} onDeployed={onDeployed} />
      </>
    )
  }
  if (flows.length > 0) return <FlowList botId={bot.id} flows={flows} waits={waits} visits={visits} mayAdd={mayEdit} />
  return isCurrent ? <NoFlows botId={bot.id} mayAdd={mayEdit} /> : <Skeleton lines={4} />
}

interface OneFlowProps extends FlowsOfProps {
  flowId: string
  flows: Flow[]
  /** Where the flows are made, if not in the console. */
  made: string | undefined
  mayEdit: boolean
}

/** A flow or its editor. */
function OneFlow(props: OneFlowProps): JSX.Element {
  const { bot, flowId, flows, version, isCurrent, waits, visits, made, mayEdit, onDeployed } = props
  const isEdited = mayEdit && query.value.has('edit')
  const deployed = flows.find(({ id }) => id === flowId)
  // A changed text stays, although another deployment has deleted its flow.
  const kept = !deployed && isEdited ? beginningOf(bot, flowId) : undefined
  const flow = deployed ?? kept
  if (!flow) {
    if (!isCurrent) return <Skeleton lines={4} />
    return flows.length === 0 ? (
      <NoFlows botId={bot.id} mayAdd={mayEdit} />
    ) : (
      <Empty title={`Flow ${flowId} not found`} />
    )
  }
  const layout = version?.layouts?.[flow.id] ?? {}
  if (!isEdited) {
    return (
      <FlowPage key={flow.id} botId={bot.id} flow={flow} layout={layout} waits={waits} visits={visits} made={made} />
    )
  }
  return (
    <>
      <FlowHeader botId={bot.id} title={flow.name ?? flow.id} description={flow.description}>
        {deployed && (
          <a class="button small" href={to('bots', bot.id, 'flows', flow.id)}>
            Close the editor
          </a>
        )}
      </FlowHeader>
      <FlowEditor
        key={flow.id}
        bot={bot}
        flow={flow}
        isDeleted={kept !== undefined}
        isRemovable={deployed !== undefined && (flows.length > 1 || version?.code !== '')}
        layout={layout}
        waits={waits}
        onDeployed={onDeployed}
      />
    </>
  )
}

function NoFlows({ botId, mayAdd }: { botId: string; mayAdd: boolean }): JSX.Element {
  return (
    <Empty title="No flow yet">
      <p>
        Files <code>flows/&lt;id&gt;.json</code> of a project are its flows; <code>isobot deploy</code> uploads them.
      </p>
      {mayAdd && (
        <a class="button primary" href={`${to('bots', botId, 'flows')}?new=`}>
          New flow
        </a>
      )}
    </Empty>
  )
}

/** An id for another flow. The first one is `main`, which handles messages. */
function freeId(flows: Flow[]): string {
  const known = new Set(flows.map(({ id }) => id))
  if (!known.has('main')) return 'main'
  let number = flows.length + 1
  while (known.has(`flow-${number}`)) number += 1
  return `flow-${number}`
}

interface EventNoteProps {
  botId: string
  eventId: string
  event: EventDetail | undefined
  /** Whether the event was handled by the deployed version. */
  isDeployed: boolean
  flowId: string | undefined
}

function EventNote({ botId, eventId, event, isDeployed, flowId }: EventNoteProps): JSX.Element {
  return (
    <p class="event-note">
      <span>
        {event ? 'The path of event ' : 'Not found: event '}
        <a href={to('bots', botId, 'events', eventId)}>{shortId(eventId)}</a>
        {event?.preview && (
          <>
            {' '}
            “<bdi>{event.preview}</bdi>”
          </>
        )}
        {event && !isDeployed && ', in the version that handled it, which is not the deployed one'}
      </span>
      <a class="button small" href={to('bots', botId, 'flows', ...(flowId === undefined ? [] : [flowId]))}>
        Hide the path
      </a>
    </p>
  )
}

interface FlowListProps {
  botId: string
  flows: Flow[]
  waits: ReadonlyMap<string, number>
  visits: Visit[]
  /** Whether flows can be added here. */
  mayAdd: boolean
}

function FlowList({ botId, flows, waits, visits, mayAdd }: FlowListProps): JSX.Element {
  const search = location.search
  const list = (
    <ol class="plain lines panel flow-list" aria-label="Flows" onKeyDown={moveBetweenRows}>
      {flows.map(({ id, name, description, nodes }) => {
        const waiting = nodes.reduce((sum, node) => sum + (waits.get(`${id}/${node.id}`) ?? 0), 0)
        const cards = nodes.reduce((sum, node) => sum + node.cards.length, 0)
        return (
          <li key={id}>
            <div>
              <a href={to('bots', botId, 'flows', id) + search} data-row>
                <bdi>{name ?? id}</bdi>
              </a>
              {visits.some(({ flow }) => flow === id) && <Status tone="good">on the path</Status>}
              {description && (
                <p class="quiet" dir="auto">
                  {description}
                </p>
              )}
            </div>
            <span class="number quiet">{plural(nodes.length, 'node')}</span>
            <span class="number quiet">{plural(cards, 'card')}</span>
            <span class="number quiet">{plural(waiting, 'conversation')} waiting</span>
          </li>
        )
      })}
    </ol>
  )
  return (
    <>
      {mayAdd && (
        <div class="toolbar">
          <span class="spacer" />
          <a class="button" href={`${to('bots', botId, 'flows')}?new=`}>
            New flow
          </a>
        </div>
      )}
      {list}
    </>
  )
}
