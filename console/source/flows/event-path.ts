import type { Run } from '../api/types.ts'

/** A card that an event ran. */
export interface Visit {
  flow: string
  node: string
  card: string
}

/** The cards of an event’s last run, in their order. */
export function visitsOf(runs: readonly Run[]): Visit[] {
  const steps = runs.at(-1)?.steps ?? []
  return steps.flatMap(({ kind, name }) => {
    const [flow, node, card] = name.split('/')
    return kind === 'card' && card !== undefined ? [{ flow: flow!, node: node!, card }] : []
  })
}

/** The flows in which an event ran cards, in the order in which it came to them. */
export function flowsOf(runs: readonly Run[]): string[] {
  return [...new Set(visitsOf(runs).map(({ flow }) => flow))]
}
