import { checkFlows, InvalidFlowsError, type FlowProblem } from '#shared/flows/check-flows.ts'
import { maxCards, maxFlows, type Flow, type FlowNode } from '#shared/flows/flow.ts'
import type { V12Bot } from './bots.ts'
import { toNode } from './conversion.ts'

/** Leaves out flows that the platform would refuse, and reports them. */
export function withinLimits(bot: V12Bot, flows: Flow[]): Flow[] {
  let kept = flows.slice(0, maxFlows)
  for (const { name } of flows.slice(maxFlows)) {
    bot.report.lost(`flows/${name}.flow.json`, undefined, 'the flow', `A bot has at most ${maxFlows} flows`)
  }
  const count = kept.flatMap(({ nodes }) => nodes).reduce((sum, { cards }) => sum + cards.length, 0)
  if (count > maxCards)
    bot.report.lost('flows/', undefined, `${count} cards`, `A bot has at most ${maxCards} cards: divide it`)
  for (;;) {
    try {
      checkFlows(kept)
      return kept
    } catch (error) {
      if (!(error instanceof InvalidFlowsError) || kept.length === 0) throw error
      kept = withoutFaults(bot, kept, error.problems)
    }
  }
}

/**
 * Empties the nodes that have faults, all at once, because each examination reads all flows; or leaves out the first flow
 * with a fault where that is not enough.
 */
function withoutFaults(bot: V12Bot, flows: Flow[], problems: readonly FlowProblem[]): Flow[] {
  const faulty = new Map<Flow, Set<string>>()
  for (const { flow: bad, node: at, problem } of problems) {
    const flow = flows.find(({ id }) => id === bad)
    const node = flow?.nodes.find(({ id }) => id === at)
    if (!flow || !node || node.cards[0]?.['text'] === emptied || faulty.get(flow)?.has(node.id)) continue
    bot.report.lost(`flows/${flow.name}.flow.json`, node.name ?? node.id, `the node: ${problem}`, 'Draw it again')
    faulty.set(flow, (faulty.get(flow) ?? new Set()).add(node.id))
  }
  if (faulty.size > 0) {
    return flows.map((flow) => {
      const nodes = faulty.get(flow)
      return nodes ? withoutCards(flow, nodes) : flow
    })
  }
  const [{ flow: bad, problem }] = problems as [FlowProblem]
  const left = flows.find(({ id }) => id === bad) ?? flows.at(-1)!
  bot.report.lost(`flows/${left.name}.flow.json`, undefined, `the flow: ${problem}`, 'Correct it, and import again')
  return flows.filter((each) => each !== left)
}

const emptied = 'Not carried: see REPORT.md'

function withoutCards(flow: Flow, ids: ReadonlySet<string>): Flow {
  return { ...flow, nodes: flow.nodes.map((node) => (ids.has(node.id) ? commentInPlaceOf(node) : node)) }
}

function commentInPlaceOf({ id }: FlowNode): FlowNode {
  return toNode(id, undefined, [{ type: 'comment', text: emptied }], null)
}
