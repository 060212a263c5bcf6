import { findNodeAtLocation, parseTree, type JSONPath } from 'jsonc-parser'
import type { Flow } from '../../../shared/flows/flow.ts'
import type { Position } from '../editor/open-editor.ts'
import { toGraph } from './graph.ts'

/** A flow as the editor shows it. */
export function writeFlow(flow: Flow): string {
  return `${JSON.stringify(flow, null, 2)}\n`
}

/** A flow to begin with. */
export function firstFlow(id: string): Flow {
  const cards = [{ id: 'say', type: 'say', message: 'Hello!' }]
  return { id, start: 'begin', nodes: [{ id: 'begin', cards }] }
}

/** The flow that a text has, if it has enough of one to draw it. The platform examines the rest when it is deployed. */
export function readFlow(text: string): Flow | undefined {
  try {
    const flow = JSON.parse(text) as Flow
    if (typeof flow.id !== 'string') return undefined
    toGraph(flow)
    return flow
  } catch {
    return undefined
  }
}

/** A place in a flow, as the platform names it in a refusal. */
export interface FlowPlace {
  node?: string
  card?: string
  trigger?: string
  /** Parts are separated by dots. */
  field?: string
}

/** The position in the text of a flow of the innermost part of a place that the text has. */
export function positionIn(text: string, { node, card, trigger, field }: FlowPlace): Position | undefined {
  const tree = parseTree(text)
  const flow = readFlow(text)
  if (!tree || !flow) return undefined
  const path: JSONPath = []
  const enter = (list: string, entries: { id: string }[] | undefined, id: string | undefined) => {
    const index = id === undefined ? -1 : (entries?.findIndex((entry) => entry.id === id) ?? -1)
    if (index >= 0) path.push(list, index)
    return index
  }
  const at = enter('nodes', flow.nodes, node)
  enter('cards', flow.nodes[at]?.cards, card)
  enter('triggers', flow.triggers, trigger)
  path.push(...(field ?? '').split('.').filter(Boolean).map(toSegment))
  let found = findNodeAtLocation(tree, path)
  while (!found && path.length > 0) {
    path.pop()
    found = findNodeAtLocation(tree, path)
  }
  return found && toPosition(text, found.offset)
}

function toSegment(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part
}

function toPosition(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length, column: lines.at(-1)!.length + 1 }
}
