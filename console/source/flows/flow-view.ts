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

/** The properties that the picture and the outline of a flow share. */
export interface FlowView extends ShownFlow {
  /** The node that the address names. */
  selected: string | undefined
  /** The address of a node of this flow, or of another flow. */
  addressOf(node: string | undefined, flow?: string): string
}
