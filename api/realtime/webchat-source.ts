import type { Context } from '#shared/context.ts'
import { toWebchatHandover, toWebchatParticipant } from '#shared/models/webchat.ts'
import { listParticipatingUsers, listSeenHandovers } from '#shared/store/webchat.ts'
import type { Listening } from './stream-guard.ts'
import type { WebchatSource } from './webchat-frames.ts'

/**
 * Reads the participants and handovers of a conversation for a web chat. A failure is logged: the next stream begins with
 * all of them.
 */
export function webchatSource({ db, log }: Context, { botId, conversationId }: Listening): WebchatSource {
  const where = { botId, conversationId }

  async function first<Row>(rows: Promise<Row[]>, shown: (row: Row) => object): Promise<object | undefined> {
    try {
      const [row] = await rows
      return row && shown(row)
    } catch (error) {
      log.warn({ err: error, ...where }, 'Reading who answers failed; the next stream has it')
      return undefined
    }
  }

  return {
    participant: (participantId) =>
      first(listParticipatingUsers(db, { ...where, participantId }), toWebchatParticipant),
    handover: (id) => first(listSeenHandovers(db, { ...where, id }), toWebchatHandover),
  }
}
