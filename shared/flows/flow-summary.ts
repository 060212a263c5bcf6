import type { Flow } from './flow.ts'

/** The parts of flows that decide which events concern them. */
export interface FlowSummary {
  triggers: { flow: string; node: string; trigger: string; event: string; integration: string | undefined }[]
}

/** @param flows valid flows, as JSON */
export function summarizeFlows(flows: string): FlowSummary {
  const parsed = JSON.parse(flows) as Flow[]
  return {
    triggers: parsed.flatMap(({ id: flow, start: node, triggers = [] }) =>
      triggers.flatMap(({ id: trigger, event, integration }) =>
        event === undefined ? [] : [{ flow, node, trigger, event, integration }],
      ),
    ),
  }
}
