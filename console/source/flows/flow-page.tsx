import type { ComponentChildren, JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { query, to } from '../state/route.ts'
import type { FlowView, ShownFlow } from './flow-view.ts'
import { toGraph } from './graph.ts'
import { Outline } from './outline.tsx'
import { Picture } from './picture.tsx'
import { placeBoxes, type Layout } from './place-boxes.ts'

interface FlowPageProps extends ShownFlow {
  layout: Layout
  /** The reason why the flow cannot be edited here. */
  made: string | undefined
}

/** One flow: its picture, and its outline beside it, which has the same content as a list. */
export function FlowPage({ layout, made, ...props }: FlowPageProps): JSX.Element {
  const { botId, flow } = props
  const graph = useMemo(() => toGraph(flow), [flow])
  const placed = useMemo(() => placeBoxes(graph, layout, flow.start), [graph, layout])
  const event = query.value.get('event')
  const view: FlowView = {
    ...props,
    selected: query.value.get('node') ?? undefined,
    addressOf(node, other = flow.id) {
      const parameters = new URLSearchParams({ ...(event !== null && { event }), ...(node !== undefined && { node }) })
      return `${to('bots', botId, 'flows', other)}${parameters.size > 0 ? `?${parameters}` : ''}`
    },
  }
  return (
    <>
      <FlowHeader botId={botId} title={flow.name ?? flow.id} description={flow.description}>
        {event === null && made === undefined && (
          <a class="button small" href={`${to('bots', botId, 'flows', flow.id)}?edit=`}>
            Edit
          </a>
        )}
      </FlowHeader>
      {made !== undefined && <p class="hint">{made}</p>}
      <div class="flow-page">
        <Picture {...view} graph={graph} placed={placed} />
        <Outline {...view} />
      </div>
    </>
  )
}

interface FlowHeaderProps {
  botId: string
  title: string
  description?: string | undefined
  children?: ComponentChildren
}

/** The name of a flow, the way back to all flows, and links. */
export function FlowHeader({ botId, title, description, children }: FlowHeaderProps): JSX.Element {
  const event = query.value.get('event')
  return (
    <header class="flow-header">
      <nav aria-label="All flows">
        <a class="button small" href={to('bots', botId, 'flows') + (event === null ? '' : `?event=${event}`)}>
          Flows
        </a>
      </nav>
      <h2 dir="auto">{title}</h2>
      {description && (
        <p class="quiet" dir="auto">
          {description}
        </p>
      )}
      <span class="spacer" />
      {children}
    </header>
  )
}
