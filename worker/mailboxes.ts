import { batchedByLoad } from '#shared/batch.ts'
import type { Database } from '#shared/store/database.ts'
import { completeEvents, type EventCompletion } from '#shared/store/complete-events.ts'
import { claimNextEvents, type ClaimedEvent } from '#shared/store/mailboxes.ts'

interface BotMailbox {
  mailbox: string
  botId: string
}

interface BotCompletion {
  completion: EventCompletion
  botId: string
}

/** A worker's statements on mailboxes, batched while it is busy. */
export interface Mailboxes {
  /** Claims the oldest event of a mailbox; undefined when no event may be handled now. */
  claim(wanted: BotMailbox): Promise<ClaimedEvent | undefined>
  /** Completes an event. False when another attempt has claimed it since; then nothing is written. */
  end(how: BotCompletion): Promise<boolean>
}

/** Maximum of mailboxes or events in one statement. */
const batchSize = 100

export function openMailboxes(db: Database): Mailboxes {
  const claim = async (wanted: BotMailbox[]) => {
    const mailboxes = wanted.map(({ mailbox }) => mailbox)
    return claimNextEvents(db, mailboxes)
  }
  const end = async (ended: BotCompletion[]) => {
    const completions = ended.map(({ completion }) => completion)
    return completeEvents(db, completions)
  }
  return {
    claim: batchedByLoad(claim, batchSize, ({ botId }) => botId),
    end: batchedByLoad(end, batchSize, ({ botId }) => botId),
  }
}
