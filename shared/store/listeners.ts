import { batched } from '../batch.ts'
import type { UserKey } from '../models/user-key.ts'
import { query, type Database } from './database.ts'
import { holderOf, keyBindings, ownId } from './external-ids.ts'

/** A listener of a conversation, by internal ids. */
interface Listener {
  conversationId: string
  userId: string
}

/** A conversation and a user, as the client of an installation names them. */
interface NamedListener {
  installationId: string
  externalConversationId: string
  key: UserKey
}

/** A listener, and the time at which the conversation had this participant. */
export interface FoundListener extends Listener {
  botId: string
  /** Not later than the moment for which the participants were read: who is removed after that is removed after it. */
  startedAt: Date
}

/** A listener's rights. */
interface Rights {
  is_user: boolean
  is_participant: boolean
}

interface Batches {
  find(listener: NamedListener): Promise<FoundListener | undefined>
  check(listener: Listener): Promise<Rights>
}

/** Upper bound of listeners per statement. */
const batchSize = 100
/**
 * A lone listener waits for nothing. While many streams are opened, each statement has those of this time: twice as many
 * as without it (docs/performance.md).
 */
const intervalMilliseconds = 4
const batchesOf = new WeakMap<Database, Batches>()

/** The statements of streams that are opened at the same time are combined: a process may open thousands at once. */
function batchesFor(db: Database): Batches {
  let batches = batchesOf.get(db)
  if (!batches) {
    batches = {
      find: batched((listeners: NamedListener[]) => findAll(db, listeners), batchSize, intervalMilliseconds),
      check: batched((listeners: Listener[]) => checkAll(db, listeners), batchSize, intervalMilliseconds),
    }
    batchesOf.set(db, batches)
  }
  return batches
}

/** The participant whom a key names, of a conversation. Undefined when there is none. */
export function findListener(db: Database, listener: NamedListener): Promise<FoundListener | undefined> {
  return batchesFor(db).find(listener)
}

/** Whether a listener's user still exists and is a participant. */
export function checkListener(db: Database, listener: Listener): Promise<Rights> {
  return batchesFor(db).check(listener)
}

const conversation = ownId('conversations', {
  installation: 'given.installation_id',
  known: 'given.known_conversation_id',
})
const holder = holderOf({
  installation: 'given.installation_id',
  known: 'given.known_user_id',
  id: 'given.holder_id',
  name: 'given.holder_name',
  issuedAt: 'given.key_issued_at',
})

/**
 * The time of a transaction is that of its start, before its rows are read. `offset 0` makes the planner look up each
 * listener, for it expects a hundred, and would otherwise read all participants.
 */
async function findAll(db: Database, listeners: NamedListener[]): Promise<(FoundListener | undefined)[]> {
  const rows = await query<{ index: number; bot_id: string; id: string; user_id: string; started_at: Date }>(
    db,
    `select (ordinal - 1)::integer as index, conversation.bot_id, conversation.id, participant.user_id,
       date_trunc('milliseconds', transaction_timestamp()) as started_at
     from rows from (jsonb_to_recordset(:listeners) as (
       installation_id text, known_user_id text, holder_id text, holder_name text, key_issued_at timestamptz,
       known_conversation_id text
     )) with ordinality as given (
       installation_id, known_user_id, holder_id, holder_name, key_issued_at, known_conversation_id, ordinal
     ), lateral (
       select id, bot_id from conversations where id = ${conversation} offset 0
     ) conversation, lateral (
       select user_id from participants where conversation_id = conversation.id and user_id = ${holder} offset 0
     ) participant`,
    {
      listeners: JSON.stringify(
        listeners.map(({ installationId, externalConversationId, key }) => {
          const { externalUserId, holderId, holderName, keyIssuedAt } = keyBindings(key)
          return {
            installation_id: installationId,
            known_user_id: externalUserId,
            holder_id: holderId,
            holder_name: holderName,
            key_issued_at: keyIssuedAt,
            known_conversation_id: externalConversationId,
          }
        }),
      ),
    },
  )
  const found: (FoundListener | undefined)[] = listeners.map(() => undefined)
  for (const { index, bot_id: botId, id: conversationId, user_id: userId, started_at: startedAt } of rows) {
    found[index] = { botId, conversationId, userId, startedAt }
  }
  return found
}

async function checkAll(db: Database, listeners: Listener[]): Promise<Rights[]> {
  return query<Rights>(
    db,
    `select exists (select from users where id = listening) as is_user,
       exists (
         select from participants where conversation_id = conversation and user_id = listening
       ) as is_participant
     from unnest(:conversationIds::text[], :userIds::text[]) with ordinality as listener (conversation, listening, ordinal)
     order by ordinal`,
    {
      conversationIds: listeners.map(({ conversationId }) => conversationId),
      userIds: listeners.map(({ userId }) => userId),
    },
  )
}

/** The indexes, from 0, of listeners who are no longer participants of a conversation that still exists. */
export async function goneListeners(db: Database, listeners: Listener[]): Promise<number[]> {
  if (listeners.length === 0) return []
  const rows = await query<{ index: number }>(
    db,
    `select (ordinal - 1)::integer as index
     from unnest(:conversationIds::text[], :userIds::text[]) with ordinality as listener (conversation, listening, ordinal)
     where exists (select from conversations where id = conversation)
       and not exists (select from participants where conversation_id = conversation and user_id = listening)`,
    {
      conversationIds: listeners.map(({ conversationId }) => conversationId),
      userIds: listeners.map(({ userId }) => userId),
    },
  )
  return rows.map(({ index }) => index)
}

/** The webhook ids of the installations that have changed since they were read, or were deleted. */
export async function changedInstallations(db: Database, seen: Map<string, Date>): Promise<string[]> {
  if (seen.size === 0) return []
  const rows = await query<{ address: string }>(
    db,
    `select address
     from unnest(:addresses::text[], :times::timestamptz[]) as seen (address, at)
     where not exists (select from installations where webhook_id = address and updated_at = at)`,
    { addresses: [...seen.keys()], times: [...seen.values()].map((time) => time.toISOString()) },
  )
  return rows.map(({ address }) => address)
}
