import { isDeepStrictEqual } from 'node:util'
import type { Flow } from './flow.ts'

/**
 * The ids of the flows that differ between two versions.
 *
 * @param before the flows as JSON; null without flows
 */
export function compareFlows(
  before: string | null = null,
  after: string | null = null,
): { added: string[]; removed: string[]; changed: string[] } {
  const [old, young] = [byId(before), byId(after)]
  return {
    added: [...young.keys()].filter((id) => !old.has(id)),
    removed: [...old.keys()].filter((id) => !young.has(id)),
    changed: [...young].flatMap(([id, flow]) => (old.has(id) && !isDeepStrictEqual(old.get(id), flow) ? [id] : [])),
  }
}

function byId(flows: string | null): Map<string, Flow> {
  return new Map(((flows === null ? [] : JSON.parse(flows)) as Flow[]).map((flow) => [flow.id, flow]))
}
