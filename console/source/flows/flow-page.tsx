import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { query, to } from '../state/route.ts'
import type { FlowView, ShownFlow } from './flow-view.ts'
import { toGraph } from './graph.ts'
import { Outline } from './outline.tsx'
import { Picture } from './picture.tsx'
import { placeBoxes, type Layout } from './place-boxes.ts'

interface FlowPageProps extends ShownFlow {
  layout: Layout
}

/** One flow: its picture, and its outline beside it, which has the same content as a list. */
export function FlowPage({ layout, ...props }: FlowPageProps): JSX.Element {
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
      <header class="flow-header">
        <nav aria-label="All flows">
          <a class="button small" href={to('bots', botId, 'flows') + (event === null ? '' : `?event=${event}`)}>
            Flows
          </a>
        </nav>
        <h2>{flow.name ?? flow.id}</h2>
        {flow.description && <p class="quiet">{flow.description}</p>}
      </header>
      <div class="flow-page">
        <Picture {...view} graph={graph} placed={placed} />
        <Outline {...view} />
      </div>
    </>
  )
}
