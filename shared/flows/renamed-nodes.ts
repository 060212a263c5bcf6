import type { Flow } from './flow.ts'

/** Nodes of earlier versions and the nodes in their place, each as `flow/node`. */
export type RenamedNodes = Readonly<Record<string, string>>

/** Upper bound of the entries that a version keeps; beyond it, those of the earliest uploads are dropped. */
export const maxRenamedNodes = 1000

const nodePath = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}/[A-Za-z0-9_-]{1,64}$' } as const

export const renamedNodes = {
  type: 'object',
  maxProperties: maxRenamedNodes,
  propertyNames: nodePath,
  additionalProperties: nodePath,
  description:
    'Where conversations continue that stand at nodes which the new version does not have: `flow/node` by the former ' +
    '`flow/node`. Only with `code` or `flows`.',
} as const

/** The nodes of flows, as `flow/node`. */
export function nodesIn(flows: string | null): Set<string> {
  const parsed = flows === null ? [] : (JSON.parse(flows) as Flow[])
  return new Set(parsed.flatMap(({ id, nodes }) => nodes.map((node) => `${id}/${node.id}`)))
}

/**
 * The renamed nodes of a new version: those of the upload, and those of the versions before, whose conversations may not
 * have continued since.
 *
 * @param nodes of the new version
 * @returns null for none
 */
export function mergeRenamed(before: RenamedNodes, given: RenamedNodes, nodes: Set<string>): RenamedNodes | null {
  const merged = new Map(Object.entries(given))
  for (const [from, to] of Object.entries(before)) {
    const now = Object.hasOwn(given, to) ? given[to]! : to
    if (merged.size < maxRenamedNodes && !merged.has(from) && !nodes.has(from) && nodes.has(now)) merged.set(from, now)
  }
  return merged.size === 0 ? null : Object.fromEntries(merged)
}
