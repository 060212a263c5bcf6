import { batched } from '#shared/batch.ts'
import type { Database } from '#shared/store/database.ts'
import { completeEvents, type EventCompletion } from '#shared/store/complete-events.ts'
import { claimNextEvents, type ClaimedEvent } from '#shared/store/mailboxes.ts'

/** What a worker asks of mailboxes, many at once when it is busy. */
export interface Mailboxes {
  /** Claims the oldest event of a mailbox; undefined when there is none that may be handled now. */
  claim(mailbox: string): Promise<ClaimedEvent | undefined>
  /** Ends an event. False when a newer run has taken it over; then nothing was written. */
  end(end: EventCompletion): Promise<boolean>
}

/** As many as a statement handles well. */
const batchSize = 100

export function openMailboxes(db: Database): Mailboxes {
  return {
    claim: batched((mailboxes: string[]) => claimNextEvents(db, mailboxes), batchSize),
    end: batched((ends: EventCompletion[]) => completeEvents(db, ends), batchSize),
  }
}
