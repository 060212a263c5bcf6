import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Card, FlowNode } from '../../../shared/flows/flow.ts'
import { plural } from '../format.ts'
import { moveBetweenRows } from '../parts/rows.ts'
import { textOf } from './card-text.ts'
import type { FlowView } from './flow-view.ts'
import { nameOf, nextOf, portsOf, routesOf, type Port } from './graph.ts'

/** The flow as a list of its nodes, their cards and the ports of these: the picture in words. */
export function Outline(view: FlowView): JSX.Element {
  const { flow } = view
  const routes = routesOf(flow)
  return (
    <section class="outline" aria-label="Outline">
      <ol class="plain" aria-label={`Nodes of ${flow.name ?? flow.id}`} onKeyDown={moveBetweenRows}>
        {flow.nodes.map((node) => (
          <OutlineNode key={node.id} {...view} node={node} />
        ))}
      </ol>
      {routes.length > 0 && (
        <div>
          <h3>From any node</h3>
          <Ports {...view} ports={routes} />
        </div>
      )}
    </section>
  )
}

function OutlineNode({ node, ...view }: FlowView & { node: FlowNode }): JSX.Element {
  const { flow, waits, visits, selected, addressOf } = view
  const item = useRef<HTMLLIElement>(null)
  const isSelected = node.id === selected
  useEffect(() => {
    if (isSelected) item.current?.scrollIntoView({ block: 'nearest' })
  }, [isSelected])
  const waiting = waits.get(`${flow.id}/${node.id}`) ?? 0
  const visited = visits.filter((visit) => visit.flow === flow.id && visit.node === node.id)
  const next = nextOf(node)
  return (
    <li ref={item} class={`${isSelected ? 'selected' : ''} ${visited.length > 0 ? 'visited' : ''}`}>
      <a href={addressOf(node.id)} aria-current={isSelected ? 'true' : undefined} data-row>
        <bdi>{node.name ?? node.id}</bdi>
      </a>
      {node.id === flow.start && <span class="quiet"> start</span>}
      {visited.length > 0 && <span class="quiet"> on the path</span>}
      {waiting > 0 && <span class="warn"> {plural(waiting, 'conversation')} waiting</span>}
      <ol class="plain">
        {node.cards.map((card) => (
          <OutlineCard
            key={card.id}
            {...view}
            card={card}
            isVisited={visited.some((visit) => visit.card === card.id)}
          />
        ))}
      </ol>
      {next && <Ports {...view} ports={[{ ...next, name: 'then' }]} />}
    </li>
  )
}

function OutlineCard({ card, isVisited, ...view }: FlowView & { card: Card; isVisited: boolean }): JSX.Element {
  return (
    <li class={isVisited ? 'visited' : ''}>
      <code>{card.type}</code> <bdi>{textOf(card)}</bdi>
      {isVisited && <span class="visually-hidden"> on the path</span>}
      <Ports {...view} ports={portsOf(card)} />
    </li>
  )
}

function Ports({ ports, addressOf }: FlowView & { ports: Port[] }): JSX.Element | null {
  if (ports.length === 0) return null
  return (
    <ol class="plain ports">
      {ports.map(({ name, target }) => (
        <li key={name}>
          <bdi>{name}</bdi> →{' '}
          {target.kind === 'end' ? (
            'end'
          ) : (
            <a href={target.kind === 'node' ? addressOf(target.node) : addressOf(target.node, target.flow)}>
              <bdi>{nameOf(target)}</bdi>
            </a>
          )}
        </li>
      ))}
    </ol>
  )
}
