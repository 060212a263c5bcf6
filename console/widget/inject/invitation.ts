import type { Appearance } from '../../../shared/models/webchat-appearance.ts'

const gestures = ['pointermove', 'pointerdown', 'keydown', 'scroll'] as const

/** Calls back when the configuration's message to visitors is due: after a time, or after a time without a gesture. */
export function scheduleInvitation(appearance: Appearance, invite: (message: string) => void): void {
  const { proactiveMessageEnabled, proactiveBubbleMessage: message, proactiveBubbleTriggerType: trigger } = appearance
  if (!proactiveMessageEnabled || message === undefined) return
  const milliseconds = (appearance.proactiveBubbleDelayTime ?? 5) * 1000
  const due = () => {
    for (const gesture of gestures) removeEventListener(gesture, restart)
    invite(message)
  }
  let timer = setTimeout(due, milliseconds)
  function restart(): void {
    clearTimeout(timer)
    timer = setTimeout(due, milliseconds)
  }
  if (trigger === 'userIdle') for (const gesture of gestures) addEventListener(gesture, restart, { passive: true })
}
