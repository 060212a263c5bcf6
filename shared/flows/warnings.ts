import { boundWarnings } from '../models/bounded-warnings.ts'
import { didYouMean } from '../did-you-mean.ts'
import { placeOf } from './check-flows.ts'
import { expressionNames, pathsOfCard } from './flow-script.ts'
import type { Card, Flow } from './flow.ts'

/**
 * Warnings about cards that run, and not as their author expects: calls of actions of the bot which its code does not export,
 * options that no answer reaches, names in texts that stand for nothing, and cards that say nothing. Importers make cards for
 * actions that remain to be written, so they refuse no upload.
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
  const { type, action, options, message, variants, translations } = card
  const warnings = warningsOfPaths(card)
  if (type === 'choice' && Array.isArray(options)) warnings.push(...warningsOfOptions(options as Option[]))
  if (type === 'say' && message === undefined && variants === undefined && translations === undefined) {
    warnings.push('it has no message, and sends nothing')
  }
  if (type === 'action' && typeof action === 'string' && !action.includes(':') && !actions.has(action)) {
    warnings.push(`there is no action '${action}' in exports.actions`)
  }
  return warnings
}

/** Names of templates that stand for nothing, as a misspelt scope does. */
function warningsOfPaths(card: Card): string[] {
  const unknown = new Set(pathsOfCard(card).filter((path) => !expressionNames.includes(path.split('.')[0]!)))
  return [...unknown].map((path) => {
    const near = didYouMean(path.split('.')[0]!, expressionNames)
    const names = near === undefined ? `the names are ${expressionNames.join(', ')}` : `did you mean '${near}'?`
    return `{{${path}}} is always empty: ${names}`
  })
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
