import { explain, Failure } from '../api/ask.ts'
import type { Handover } from '../api/types.ts'
import { membership } from '../state/session.ts'

/** Whether the signed-in member answers in a conversation. */
export function isMine(handover: Handover | undefined): boolean {
  return handover?.member !== undefined && handover.member.id === membership.value?.id
}

/** The text for people about a refused action on a handover. */
export function explainHandover(error: unknown): string {
  const reason = explain(error)
  if (!hasChanged(error)) return reason
  if (error.status === 404) return 'The conversation has been handed back to the bot meanwhile.'
  if (reason.includes('has ended')) return 'The handover has ended meanwhile: the bot answers.'
  return `${reason}.`
}

/** Whether an action was refused because the handover has ended or has another member now. */
export function hasChanged(error: unknown): error is Failure {
  return error instanceof Failure && (error.status === 404 || error.status === 409)
}
