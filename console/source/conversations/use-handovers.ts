import { useRef } from 'preact/hooks'
import { allPages } from '../api/all-pages.ts'
import { ask } from '../api/ask.ts'
import type { Handover, HandoverNote } from '../api/types.ts'

/** A handover of a conversation, with what members wrote for one another. */
export interface HandoverWithNotes {
  handover: Handover
  notes: HandoverNote[]
}

/** The newest handovers of a conversation that are shown. */
const maxHandovers = 20

interface Handovers {
  /** Loads the one in progress each time, and the ended ones only after a change. */
  load(current: Handover | undefined, abort: AbortSignal): Promise<HandoverWithNotes[]>
  /** Loads the ended ones too the next time: the member may have changed their notes. */
  forget(): void
}

/** The handovers of a conversation. The requests for the notes of one handover are one reading in the audit log. */
export function useHandovers(botId: string, conversationId: string): Handovers {
  const readings = useRef(new Map<string, string | undefined>())
  const ended = useRef<{ beside: string | undefined; handovers: HandoverWithNotes[] }>(undefined)
  const withNotes = async (handover: Handover, abort: AbortSignal): Promise<HandoverWithNotes> => {
    const path = `/bots/${botId}/handovers/${handover.id}/notes`
    const notes = await allPages(async (nextToken) => {
      const query = { pageSize: 100, nextToken, reading: readings.current.get(handover.id) }
      const page = await ask<'listHandoverNotes'>('GET', path, { query, abort })
      readings.current.set(handover.id, page.reading)
      return { items: page.notes, nextToken: page.meta.nextToken }
    })
    return { handover, notes }
  }
  const loadEnded = async (current: Handover | undefined, abort: AbortSignal): Promise<HandoverWithNotes[]> => {
    if (ended.current && ended.current.beside === current?.id) return ended.current.handovers
    const query = { conversationId, pageSize: maxHandovers }
    const { handovers } = await ask<'listHandovers'>('GET', `/bots/${botId}/handovers`, { query, abort })
    const others = handovers.filter(({ id }) => id !== current?.id)
    const loaded = await Promise.all(others.map((handover) => withNotes(handover, abort)))
    ended.current = { beside: current?.id, handovers: loaded }
    return loaded
  }
  return {
    async load(current, abort) {
      const [former, now] = await Promise.all([loadEnded(current, abort), current && withNotes(current, abort)])
      return now ? [now, ...former] : former
    },
    forget: () => (ended.current = undefined),
  }
}
