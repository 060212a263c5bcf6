import { conversationStarted } from '../models/event.ts'
import type { Flow } from './flow.ts'
import type { RenamedNodes } from './renamed-nodes.ts'

/** The parts of flows that decide which events concern them. */
export interface FlowSummary {
  triggers: TriggerSummary[]
  /** Absent for none. */
  renamed?: RenamedNodes
}

export interface TriggerSummary {
  flow: string
  node: string
  trigger: string
  /** The type of the events that it names; undefined for a cron trigger. */
  event: string | undefined
  integration: string | undefined
  cron: string | undefined
}

/** @param flows valid flows, as JSON; null for none */
export function summarizeFlows(flows: string | null): FlowSummary {
  const parsed = flows === null ? [] : (JSON.parse(flows) as Flow[])
  return {
    triggers: parsed.flatMap(({ id: flow, start: node, triggers = [] }) =>
      triggers.map(({ id: trigger, event, integration, cron }) => ({ flow, node, trigger, event, integration, cron })),
    ),
  }
}

/** Whether a flow begins with a new conversation. */
export function startsWithConversation({ triggers }: FlowSummary): boolean {
  return triggers.some(({ event }) => event === conversationStarted)
}

/** The schedules of flows. */
export function schedulesOf({ triggers }: FlowSummary): { flow: string; trigger: string; cron: string }[] {
  return triggers.flatMap(({ flow, trigger, cron }) => (cron === undefined ? [] : [{ flow, trigger, cron }]))
}
