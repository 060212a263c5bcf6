import { toNode, type Conversion, type FlowBuilder } from './conversion.ts'
import type { Place } from './expressions.ts'
import type { Fields } from './json.ts'
import type { Links } from './links.ts'
import type { V12Node } from './v12-flow.ts'

/** A node that runs a skill. */
export interface Skill {
  conversion: Conversion
  links: Links
  builder: FlowBuilder
  node: V12Node
  /** The id of the node. */
  id: string
  data: Fields
  place: Place
}

/** A node with the transitions alone, to which called flows return. */
export function addTransitions(links: Links, node: V12Node, id: string | null): void {
  if (id === null) return
  const routed = links.route(node.next, node.name, id)
  links.builder.add(toNode(id, undefined, routed.cards, routed.next))
}
