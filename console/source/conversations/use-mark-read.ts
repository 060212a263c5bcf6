import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { ask } from '../api/ask.ts'

/** How often this page has recorded what the member has read: lists count anew what is unread when it changes. */
export const timesRead = signal(0)

/**
 * Records that the member has read a handover's messages up to the newest one, as soon as the page is visible with it.
 *
 * @param handoverId the handover in progress, if any
 */
export function useMarkRead(botId: string, handoverId: string | undefined, newestId: string | undefined): void {
  // As the message appears: a member may turn to another tab before the next frame.
  useLayoutEffect(() => {
    if (handoverId === undefined || newestId === undefined) return
    const look = () => {
      if (document.hidden) return
      document.removeEventListener('visibilitychange', look)
      const body = { messageId: newestId }
      // A failure leaves a count that is too high until the next message.
      void ask('PUT', `/bots/${botId}/handovers/${handoverId}/read`, { body }).then(
        () => timesRead.value++,
        () => undefined,
      )
    }
    document.addEventListener('visibilitychange', look)
    look()
    return () => document.removeEventListener('visibilitychange', look)
  }, [botId, handoverId, newestId])
}
