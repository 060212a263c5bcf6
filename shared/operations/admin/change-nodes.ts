import { ApiError } from '../../errors.ts'
import { mergeRenamed, nodesIn, type RenamedNodes } from '../../flows/renamed-nodes.ts'
import { closedObject, type Infer } from '../../schema.ts'
import { findDeployedFlows } from '../../store/bots.ts'
import type { Database } from '../../store/database.ts'
import { countPositionsAt, maxCountedNodes, maxReadPositions } from '../../store/flow-positions.ts'

/** The numbers of conversations that wait at nodes, as an answer has them. */
export const removedNodes = {
  type: 'array',
  description:
    'The nodes that the new version does not have and at which conversations wait, those with the most first: at most ' +
    `${maxCountedNodes} nodes, and ${maxReadPositions} waiting conversations of the bot are counted. They continue at the start ` +
    'of flow `main`. Absent without any.',
  items: closedObject({
    flow: { type: 'string' },
    node: { type: 'string' },
    conversations: { type: 'integer' },
  }),
} as const

interface NodeChanges {
  /** The renamed nodes of the new version; null for none. */
  renamed: RenamedNodes | null
  removed: Infer<typeof removedNodes>
}

/**
 * Compares the nodes of a new version with those of the deployed one.
 *
 * @param flows of the new version, as JSON; null without any
 * @throws ApiError `InvalidPayload` when a renamed node exists still or its successor does not; `BreakingChanges` when
 *   conversations wait at nodes that the version removes, and that is not allowed
 */
export async function changeNodes(
  db: Database,
  botId: string,
  flows: string | null,
  {
    renamed = {},
    allowRemovedNodes = true,
  }: { renamed?: RenamedNodes | undefined; allowRemovedNodes?: boolean | undefined },
): Promise<NodeChanges> {
  const nodes = nodesIn(flows)
  for (const [from, to] of Object.entries(renamed)) {
    if (nodes.has(from)) throw new ApiError('InvalidPayload', `renamed: the new version has a node '${from}'`)
    if (!nodes.has(to)) throw new ApiError('InvalidPayload', `renamed: the new version has no node '${to}'`)
  }
  const before = await findDeployedFlows(db, botId)
  if (!before) return { renamed: mergeRenamed({}, renamed, nodes), removed: [] }
  const gone = [...nodesIn(before.flows)].filter((node) => !nodes.has(node) && !Object.hasOwn(renamed, node))
  const removed = gone.length === 0 ? [] : await countPositionsAt(db, botId, gone)
  if (removed.length > 0 && !allowRemovedNodes) {
    const listed = removed.slice(0, listedNodes).map((each) => `${each.flow}/${each.node} (${each.conversations})`)
    const others = removed.length - listed.length
    throw new ApiError(
      'BreakingChanges',
      `Conversations wait at nodes that the new version does not have: ${listed.join(', ')}` +
        `${others > 0 ? ` and ${others} more` : ''}. The deployed version stays. ` +
        'Name the nodes in their place with renamed, or send the upload without allowRemovedNodes: false',
      { metadata: { nodes: removed } },
    )
  }
  return { renamed: mergeRenamed(before.renamed_nodes ?? {}, renamed, nodes), removed }
}

/** Upper bound of the nodes that an error names. */
const listedNodes = 5
