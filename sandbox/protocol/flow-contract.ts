/** The contract between the worker and the kernel's flow engine, as JSON. */

import type { Json, JsonObject } from './json.ts'

/** Where a conversation stands in the flows of its bot. */
export interface FlowPosition {
  /** The event that made it: the end of a wait that belongs to an older position has no effect. */
  event: string
  /** The user of that event, for whom a wait continues. */
  userId?: string
  /** The bot version whose flows made it. */
  version: string
  /** The flows in progress: the first one, and those that it called. */
  frames: FlowFrame[]
  /** Variables of all flows of the conversation, until the first of them ends. */
  temp: JsonObject
  previous?: { flow: string; node: string }
}

/** A flow in progress: it stands at a card, which waits, or which has called the next frame's flow. */
export interface FlowFrame {
  flow: string
  node: string
  card: string
  /** The variables `workflow.…`. */
  variables: JsonObject
  waits?: FlowWait
  /** Whether it interrupted the flow below it, which waits on at its end. */
  interrupts?: true
}

export interface FlowWait {
  for: 'answer' | 'time' | 'handover'
  /** When the wait ends without an answer, in milliseconds since 1970; null for never. */
  until: number | null
  /** How many answers were not accepted. */
  tries: number
  /** The options of a choice that an expression has made. */
  options?: Json
}

/** The part of flows in an event. */
export interface FlowTask {
  /** The bot version of the run. */
  version: string
  position: FlowPosition | null
  /** `message` answers a waiting card or begins `main`; `due` ends a wait; `start` begins a flow; `resume` ends a handover; `end` ends all; `event` may match triggers. */
  cause: 'message' | 'event' | 'due' | 'start' | 'resume' | 'end'
  /** For `due`: the event that made the position whose wait is over. */
  waitOf?: string
  /** For `start`: where, and with which variables. */
  start?: { flow: string; node?: string; input?: JsonObject; temp?: JsonObject }
  /** The triggers that match the event except for their filters, in order. */
  triggers: FlowTrigger[]
  /** Outcomes of cards of earlier runs of the event, by the scope of the card. */
  recorded: Record<string, Json>
  /** Whether a failure of this run is final: then the flow `error` runs. */
  isLastAttempt: boolean
}

export interface FlowTrigger {
  flow: string
  node: string
  trigger: string
}

/** The result of an event of a bot with flows. */
export interface FlowResult {
  stopped: boolean
  /** The new position; null when no flow is in progress; absent when it has not changed. */
  position?: FlowPosition | null
}

/** The path of the host call that records outcomes of cards; no operation has it. */
export const outcomesPath = '/flow-outcomes'

/** The body of that call. */
export interface CardOutcomes {
  entries: { scope: string; outcome: Json }[]
}

/** Upper bounds of an event. */
export const maxVisits = 10
export const maxCardsPerEvent = 500
/** Upper bound of flows that call each other. */
export const maxFrames = 16
