import type { Flow } from '../../../shared/flows/flow.ts'
import type { Visit } from './event-path.ts'

export interface ShownFlow {
  botId: string
  flow: Flow
  /** The number of conversations that wait, by `flow/node`. */
  waits: ReadonlyMap<string, number>
  /** The path of an event. */
  visits: Visit[]
}

/** What the picture and the outline of a flow have in common. */
export interface FlowView extends ShownFlow {
  /** The node that the address names. */
  selected: string | undefined
  /** The address of a node of this flow, or of another flow. */
  addressOf(node: string | undefined, flow?: string): string
}
