import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { FlowNode } from '../../../shared/flows/flow.ts'
import { plural } from '../format.ts'
import { moveBetweenRows } from '../parts/rows.ts'
import { textOf } from './card-text.ts'
import type { Visit } from './event-path.ts'
import type { FlowView } from './flow-view.ts'
import { headHeight, nameOf, type Box, type Edge, type Graph, type Row } from './graph.ts'
import type { Placed, Point } from './place-boxes.ts'

const scales = [0.4, 0.55, 0.75, 1] as const

/** The flow as boxes and arrows. The content of the boxes is text; the arrows are hidden from screen readers. */
export function Picture(view: FlowView & { graph: Graph; placed: Placed }): JSX.Element {
  const { flow, graph, placed, visits, selected } = view
  const [scale, setScale] = useState<number>(scales.length - 1)
  const frame = useRef<HTMLDivElement>(null)
  const zoom = scales[scale]!
  const passed = useMemo(() => passedEdges(graph.edges, flow.id, visits), [graph, flow.id, visits])
  useEffect(() => {
    const id = selected ?? visits.findLast((visit) => visit.flow === flow.id)?.node ?? flow.start
    const point = placed.at.get(id)
    if (!frame.current || !point) return
    const { clientWidth, clientHeight } = frame.current
    // The node itself takes a part of the frame.
    frame.current.scrollTo({ left: point.x * zoom - clientWidth / 3, top: point.y * zoom - clientHeight / 3 })
  }, [selected, placed, zoom])
  return (
    <section class="picture" aria-label="Picture">
      <div class="zoom" role="group" aria-label="Size of the picture">
        <button type="button" class="button small" disabled={scale === 0} onClick={() => setScale(scale - 1)}>
          Smaller
        </button>
        <button
          type="button"
          class="button small"
          disabled={scale === scales.length - 1}
          onClick={() => setScale(scale + 1)}
        >
          Larger
        </button>
      </div>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must take the focus */}
      <div class="frame" ref={frame} role="region" aria-label={`Picture of ${flow.name ?? flow.id}`} tabIndex={0}>
        <div style={{ width: `${placed.width * zoom}px`, height: `${placed.height * zoom}px` }}>
          <div
            class="canvas"
            style={{ width: `${placed.width}px`, height: `${placed.height}px`, transform: `scale(${zoom})` }}
            onKeyDown={moveBetweenRows}
          >
            <Arrows graph={graph} placed={placed} passed={passed} />
            {graph.boxes.map((box) => (
              <BoxOf key={box.id} {...view} box={box} at={placed.at.get(box.id)!} />
            ))}
          </div>
        </div>
      </div>
    </section>
  )
}

function BoxOf({ box, at, ...view }: FlowView & { box: Box; at: Point }): JSX.Element {
  const { flow, addressOf } = view
  const place = { left: `${at.x}px`, top: `${at.y}px`, width: `${box.width}px`, height: `${box.height}px` }
  if (box.exit?.kind === 'flow') {
    const { exit } = box
    return (
      <a class="exit" style={place} href={addressOf(exit.node, exit.flow)}>
        {nameOf(exit)}
      </a>
    )
  }
  const node = flow.nodes.find(({ id }) => id === box.id)
  if (box.exit || !node) {
    return (
      <span class="exit end" style={place}>
        end
      </span>
    )
  }
  return <NodeBox {...view} node={node} box={box} place={place} />
}

interface NodeBoxProps extends FlowView {
  node: FlowNode
  box: Box
  place: Record<string, string>
}

function NodeBox({ node, box, place, ...view }: NodeBoxProps): JSX.Element {
  const { flow, waits, visits, selected, addressOf } = view
  const waiting = waits.get(`${flow.id}/${node.id}`) ?? 0
  const visited = new Set(
    visits.filter((visit) => visit.flow === flow.id && visit.node === node.id).map(({ card }) => card),
  )
  const classes = ['node', visited.size > 0 && 'visited', node.id === flow.start && 'start'].filter(Boolean).join(' ')
  return (
    <a
      class={classes}
      style={place}
      href={addressOf(node.id)}
      aria-current={node.id === selected ? 'true' : undefined}
      data-row
    >
      <span class="head">
        <span class="name" dir="auto">
          {node.name ?? node.id}
        </span>
        {waiting > 0 && (
          <span class="waiting">
            {waiting}
            <span class="visually-hidden"> {plural(waiting, 'conversation').replace(/^\S+ /, '')} waiting</span>
          </span>
        )}
      </span>
      {box.rows.map((row, index) => (
        <RowOf key={index} row={row} isVisited={row.kind === 'card' && visited.has(row.card.id)} />
      ))}
    </a>
  )
}

function RowOf({ row, isVisited }: { row: Row; isVisited: boolean }): JSX.Element {
  if (row.kind === 'port')
    return (
      <span class="port">
        <bdi>{row.name}</bdi>
      </span>
    )
  if (row.kind === 'rest') return <span class="card quiet">and {row.cards} more</span>
  return (
    <span class={`card ${isVisited ? 'visited' : ''}`}>
      <code>{row.card.type}</code> <bdi>{textOf(row.card)}</bdi>
    </span>
  )
}

interface ArrowsProps {
  graph: Graph
  placed: Placed
  passed: ReadonlySet<Edge>
}

function Arrows({ graph, placed, passed }: ArrowsProps): JSX.Element {
  const boxes = new Map(graph.boxes.map((box) => [box.id, box]))
  return (
    <svg width={placed.width} height={placed.height} aria-hidden="true">
      <defs>
        {['arrow', 'arrow-passed'].map((id) => (
          <marker key={id} id={id} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 8 4 0 8z" />
          </marker>
        ))}
      </defs>
      {graph.edges.map((edge, index) => {
        const [from, to] = [placed.at.get(edge.from)!, placed.at.get(edge.to)!]
        const begin = { x: from.x + boxes.get(edge.from)!.width, y: from.y + edge.offset }
        const target = boxes.get(edge.to)!
        const end = { x: to.x, y: to.y + (target.exit ? target.height / 2 : headHeight / 2) }
        const isPassed = passed.has(edge)
        return (
          <path
            key={index}
            class={isPassed ? 'edge passed' : 'edge'}
            d={curve(begin, end)}
            marker-end={`url(#${isPassed ? 'arrow-passed' : 'arrow'})`}
          />
        )
      })}
    </svg>
  )
}

function curve(begin: Point, end: Point): string {
  const across = end.x - begin.x
  const bend = Math.max(36, Math.abs(across) / 2)
  if (across >= 0) {
    return `M${begin.x} ${begin.y}C${begin.x + bend} ${begin.y} ${end.x - bend} ${end.y} ${end.x} ${end.y}`
  }
  // A way back passes below the boxes between.
  const drop = Math.max(begin.y, end.y) + 120
  return `M${begin.x} ${begin.y}C${begin.x + 110} ${drop} ${end.x - 110} ${drop} ${end.x} ${end.y}`
}

/** The ways that an event took: from the card that it left a node by, or else from the end of the node. */
function passedEdges(edges: readonly Edge[], flow: string, visits: readonly Visit[]): Set<Edge> {
  const passed = new Set<Edge>()
  for (const [index, visit] of visits.entries()) {
    const after = visits[index + 1]
    if (visit.flow !== flow || after === undefined) continue
    if (after.flow === flow && after.node === visit.node) continue
    const target = after.flow === flow ? after.node : `${visit.node} > ${after.flow}/`
    const ways = edges.filter(({ from, to }) => from === visit.node && (to === target || to.startsWith(target)))
    const way = ways.find(({ card }) => card === visit.card) ?? ways.find(({ card }) => card === undefined)
    if (way) passed.add(way)
  }
  return passed
}
