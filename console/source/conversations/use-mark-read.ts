import { useEffect } from 'preact/hooks'
import { ask } from '../api/ask.ts'

/**
 * Records that the member has read a handover's messages up to the newest one, as soon as the page is visible with it.
 *
 * @param handoverId the handover in progress, if any
 */
export function useMarkRead(botId: string, handoverId: string | undefined, newestId: string | undefined): void {
  useEffect(() => {
    if (handoverId === undefined || newestId === undefined) return
    const look = () => {
      if (document.hidden) return
      document.removeEventListener('visibilitychange', look)
      const body = { messageId: newestId }
      // A failure leaves a count that is too high until the next message.
      void ask('PUT', `/bots/${botId}/handovers/${handoverId}/read`, { body }).catch(() => undefined)
    }
    document.addEventListener('visibilitychange', look)
    look()
    return () => document.removeEventListener('visibilitychange', look)
  }, [botId, handoverId, newestId])
}
