import { checkFlows, InvalidFlowsError, type FlowProblem } from '#shared/flows/check-flows.ts'
import { maxCards, maxFlows, type Flow } from '#shared/flows/flow.ts'
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
      kept = withoutFault(bot, kept, error.first)
    }
  }
}

/** Empties the node that has a fault, or leaves out its flow where that is not enough. */
function withoutFault(bot: V12Bot, flows: Flow[], { flow: bad, node: at, problem }: FlowProblem): Flow[] {
  const flow = flows.find(({ id }) => id === bad)
  const node = flow?.nodes.find(({ id }) => id === at)
  if (flow && node && node.cards[0]?.['text'] !== emptied) {
    bot.report.lost(`flows/${flow.name}.flow.json`, node.name ?? node.id, `the node: ${problem}`, 'Draw it again')
    return flows.map((each) => (each === flow ? withoutCards(flow, node.id) : each))
  }
  const left = flow ?? flows.at(-1)!
  bot.report.lost(`flows/${left.name}.flow.json`, undefined, `the flow: ${problem}`, 'Correct it, and import again')
  return flows.filter((each) => each !== left)
}

const emptied = 'Not carried: see REPORT.md'

function withoutCards(flow: Flow, id: string): Flow {
  const comment = toNode(id, undefined, [{ type: 'comment', text: emptied }], null)
  return { ...flow, nodes: flow.nodes.map((node) => (node.id === id ? comment : node)) }
}
