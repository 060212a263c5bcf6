import { styled } from '../output.ts'
import type { Change, DeploymentPlan } from './plan-deployment.ts'

/** The changes of a deployment as text for people, one line each; empty when there are none. */
export function showPlan({ changes }: Pick<DeploymentPlan, 'changes'>): string {
  return changes.map(showChange).join('\n')
}

function showChange({ field, from, to }: Change): string {
  if (from === undefined) return `  ${styled('green', '+')} ${field}  ${valueOf(to)}`
  if (to === undefined) return `  ${styled('red', '-')} ${field}  ${valueOf(from)}`
  return `  ${styled('yellow', '~')} ${field}  ${valueOf(from)} → ${valueOf(to)}`
}

const maxCharacters = 200

function valueOf(value: unknown): string {
  if (typeof value === 'string') return value
  const { hash, added, removed } = (value ?? {}) as { hash?: string; added?: number; removed?: number }
  if (hash !== undefined) {
    return hash.slice(0, 12) + (added === undefined ? '' : `, lines +${added} −${removed ?? 0}`)
  }
  const text = JSON.stringify(value)
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text
}
