import type { Flow } from './flow.ts'

const maxWarnings = 20

/**
 * Warnings about cards that call actions of the bot which its code does not export: each fails when it runs. Importers make
 * such cards for actions that remain to be written, so they refuse no upload.
 *
 * @param actions names of the exported actions
 */
export function warningsOfFlows(flows: Flow[], actions: string[]): string[] {
  const known = new Set(actions)
  const warnings: string[] = []
  for (const { id: flow, nodes } of flows) {
    for (const { id: node, cards } of nodes) {
      for (const { id, type, action } of cards) {
        if (type !== 'action' || typeof action !== 'string' || action.includes(':') || known.has(action)) continue
        warnings.push(`flow '${flow}', node '${node}', card '${id}': there is no action '${action}' in exports.actions`)
      }
    }
  }
  const more = warnings.length - maxWarnings
  return more > 0 ? [...warnings.slice(0, maxWarnings), `${more} more cards call actions that do not exist`] : warnings
}
