import { batchedByLoad } from '#shared/batch.ts'
import type { Database } from '#shared/store/database.ts'
import { completeEvents, type EventCompletion } from '#shared/store/complete-events.ts'
import { claimNextEvents, type ClaimedEvent } from '#shared/store/mailboxes.ts'

interface BotMailbox {
  mailbox: string
  botId: string
}

/** A worker's statements on mailboxes, batched while it is busy. */
export interface Mailboxes {
  /** Claims the oldest event of a mailbox; undefined when no event may be handled now. */
  claim(of: BotMailbox): Promise<ClaimedEvent | undefined>
  /** Completes an event. False when another attempt has claimed it since; then nothing is written. */
  end(botId: string, end: EventCompletion): Promise<boolean>
}

/** Maximum of mailboxes or events in one statement. */
const batchSize = 100

export function openMailboxes(db: Database): Mailboxes {
  const claim = (wanted: BotMailbox[]) =>
    claimNextEvents(
      db,
      wanted.map(({ mailbox }) => mailbox),
    )
  const end = batchedByLoad(
    (ends: { botId: string; end: EventCompletion }[]) =>
      completeEvents(
        db,
        ends.map(({ end }) => end),
      ),
    batchSize,
    ({ botId }) => botId,
  )
  return {
    claim: batchedByLoad(claim, batchSize, ({ botId }) => botId),
    end: (botId, completion) => end({ botId, end: completion }),
  }
}
