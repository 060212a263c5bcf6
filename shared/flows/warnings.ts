import { boundWarnings } from '../models/bounded-warnings.ts'
import { placeOf } from './check-flows.ts'
import type { Card, Flow } from './flow.ts'

/**
 * Warnings about cards that run, and not as their author expects: calls of actions of the bot which its code does not export,
 * and options that no answer reaches. Importers make cards for actions that remain to be written, so they refuse no upload.
 *
 * @param actions names of the exported actions
 */
export function warningsOfFlows(flows: Flow[], actions: string[]): string[] {
  const known = new Set(actions)
  const warnings: string[] = []
  for (const { id: flow, nodes } of flows) {
    for (const { id: node, cards } of nodes) {
      for (const card of cards) {
        const place = placeOf({ flow, node, card: card.id })
        for (const warning of warningsOf(card, known)) warnings.push(`${place}${warning}`)
      }
    }
  }
  return boundWarnings(warnings, 'warnings about flows')
}

function warningsOf(card: Card, actions: ReadonlySet<string>): string[] {
  const { type, action, options } = card
  if (type === 'choice') return Array.isArray(options) ? warningsOfOptions(options as Option[]) : []
  if (type !== 'action' || typeof action !== 'string' || action.includes(':') || actions.has(action)) return []
  return [`there is no action '${action}' in exports.actions`]
}

interface Option {
  label: string
  value: string
}

/** Ports of a choice for other outcomes than its options: other answers, and failures, as of each card. */
const ownPorts = ['other', 'cancel', 'error']

function warningsOfOptions(options: Option[]): string[] {
  const labels = new Set<string>()
  const warnings: string[] = []
  const values = new Map<string, string>()
  for (const { label, value } of options) {
    const folded = label.trim().toLowerCase()
    const former = values.get(value)
    if (former !== undefined) {
      warnings.push(`the options '${former}' and '${label}' have the same value '${value}', and so the same port`)
    } else if (labels.has(folded)) {
      warnings.push(`there are two options with the label '${label}': an answer with it selects the first one`)
    }
    if (ownPorts.includes(value)) {
      warnings.push(`the option '${label}' has the value '${value}', whose port other outcomes take too`)
    }
    labels.add(folded)
    if (former === undefined) values.set(value, label)
  }
  return warnings
}
