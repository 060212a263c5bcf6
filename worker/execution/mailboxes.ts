import { batched } from '#shared/batch.ts'
import type { Database } from '#shared/store/database.ts'
import { completeEvents, type EventCompletion } from '#shared/store/complete-events.ts'
import { claimNextEvents, type ClaimedEvent } from '#shared/store/mailboxes.ts'

/** A worker's statements on mailboxes, batched while it is busy. */
export interface Mailboxes {
  /** Claims the oldest event of a mailbox; undefined when no event may be handled now. */
  claim(mailbox: string): Promise<ClaimedEvent | undefined>
  /** Completes an event. False when another attempt has claimed it since; then nothing is written. */
  end(end: EventCompletion): Promise<boolean>
}

/** Maximum of mailboxes or events in one statement. */
const batchSize = 100

export function openMailboxes(db: Database): Mailboxes {
  return {
    claim: batched((mailboxes: string[]) => claimNextEvents(db, mailboxes), batchSize),
    end: batched((ends: EventCompletion[]) => completeEvents(db, ends), batchSize),
  }
}
