import { boundWarnings } from '../models/bounded-warnings.ts'
import { didYouMean } from '../did-you-mean.ts'
import { placeOf } from './check-flows.ts'
import { expressionNames, templatesOfCard } from './flow-script.ts'
import type { Card, Flow } from './flow.ts'

/**
 * Warnings about cards that run, and not as their author expects: calls of actions of the bot which its code does not export,
 * options that no answer reaches, templates that are always empty, and cards that say nothing. Importers make cards for
 * actions that remain to be written, so they refuse no upload.
 *
 * @param given `actions` are the names of the exported actions
 */
export function warningsOfFlows(flows: Flow[], given: { actions: string[]; isInCode: boolean }): string[] {
  const known = new Set(given.actions)
  const warnings: string[] = []
  for (const { id: flow, nodes } of flows) {
    for (const { id: node, cards } of nodes) {
      for (const card of cards) {
        const place = placeOf({ flow, node, card: card.id })
        for (const warning of warningsOf(card, known, given.isInCode)) warnings.push(`${place}${warning}`)
      }
    }
  }
  return boundWarnings(warnings, 'warnings about flows')
}

function warningsOf(card: Card, actions: ReadonlySet<string>, isInCode: boolean): string[] {
  const { type, action, options, message, variants, translations } = card
  const warnings = warningsOfTemplates(card, isInCode)
  if (type === 'choice' && Array.isArray(options)) warnings.push(...warningsOfOptions(options as Option[]))
  if (type === 'say' && message === undefined && variants === undefined && translations === undefined) {
    warnings.push('it has no message, and sends nothing')
  }
  if (type === 'action' && typeof action === 'string' && !action.includes(':') && !actions.has(action)) {
    warnings.push(`there is no action '${action}' in exports.actions`)
  }
  return warnings
}

/** Templates that stand for nothing: names that there are not, as a misspelt scope, and in code all that is no path. */
function warningsOfTemplates(card: Card, isInCode: boolean): string[] {
  const { paths, expressions } = templatesOfCard(card)
  const unknown = new Set(paths.filter((path) => !expressionNames.includes(path.split('.')[0]!)))
  const unread = new Set(isInCode ? expressions : [])
  const functions = [...unread].map(
    (expression) => `{{${expression}}} is always empty: in code, a function takes its place`,
  )
  const names = [...unknown].map((path) => {
    const near = didYouMean(path.split('.')[0]!, expressionNames)
    const names = near === undefined ? `the names are ${expressionNames.join(', ')}` : `did you mean '${near}'?`
    return `{{${path}}} is always empty: ${names}`
  })
  return [...functions, ...names]
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
