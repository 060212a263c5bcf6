import { closedObject } from '../schema.ts'
import type { BotContext } from '../rpc/caller.ts'
import { findInstallationFor } from '../integrations/find-installation.ts'
import { newId } from '../ids.ts'
import type { RuntimeConversationRow } from '../models/conversation.ts'
import { isSettled, toChange, toMatch, toStoredTags } from '../models/tags.ts'
import { wakeWorker } from '../signals/after-commit.ts'
import type { CreatedConversation } from '../store/conversations.ts'
import type { Database } from '../store/database.ts'
import { findOrCreate } from '../store/find-or-create.ts'
import {
  findMatchingConversation,
  insertRuntimeConversation,
  updateRuntimeConversation,
} from '../store/runtime-conversations.ts'
import { findMatchingUser, updateRuntimeUser } from '../store/runtime-users.ts'
import type { UserRow } from '../models/tables.ts'
import { insertUser } from '../store/users.ts'

/**
 * Users and conversations are identified by their tags: one whose compared tags match is updated with the other fields;
 * without a match, one is created.
 *
 * `db` may be a transaction, and all statements go through it: requests that each hold one connection while they wait
 * for a second one could block each other.
 */

/** The `meta` of a get-or-create operation's output. */
export const createdMeta = closedObject({ created: { type: 'boolean' } })

type Values = Record<string, string | null>

interface ResourceInput {
  tags?: Values
  properties?: Values
  discriminateByTags?: string[]
  integrationName?: string
}

export interface ConversationInput extends ResourceInput {
  channel: string
}

/** A conversation, which may be new: then `has_started_event` tells whether a flow begins with it. */
export type GotConversation = RuntimeConversationRow & Partial<CreatedConversation<object>>

export interface UserInput extends ResourceInput {
  name?: string
  pictureUrl?: string
}

interface Got<Row> {
  row: Row
  created: boolean
}

/**
 * Creates a conversation, as the caller sees it. The caller wakes a worker for its event, if it has one.
 *
 * @param startedBy the user whose message creates it
 * @throws ApiError as `findInstallationFor`
 */
export async function createConversation(
  context: BotContext,
  db: Database,
  { channel, tags, properties, integrationName }: ConversationInput,
  startedBy?: string,
): Promise<GotConversation> {
  return insertRuntimeConversation(db, {
    id: newId('conv'),
    botId: context.caller.botId,
    installationId: (await findInstallationFor({ ...context, db }, integrationName)).id,
    channel,
    tags: toStoredTags(context.caller, tags),
    properties: toStoredTags({}, properties),
    startedBy,
  })
}

/** Finds the caller's conversation of a channel with these tags, or creates it as `createConversation`. */
export async function getOrCreateConversation(
  context: BotContext,
  db: Database,
  given: ConversationInput,
  startedBy?: string,
): Promise<Got<GotConversation>> {
  const { caller } = context
  const match = toMatch(caller, given.tags ?? {}, given.discriminateByTags)
  const create = (on: Database) => createConversation(context, on, given, startedBy)
  if (!match) return { row: await create(db), created: true }
  const { channel } = given
  const { id: installationId } = await findInstallationFor({ ...context, db }, given.integrationName)
  const found = await findOrCreate(db, ['conversation', installationId, channel, match.present], {
    find: (on) => findMatchingConversation(on, { installationId, channel }, match),
    create,
  })
  const change = { tags: toChange(caller, given.tags), properties: toChange({}, given.properties) }
  const { row } = found
  if (found.created || (isSettled(row.tags, change.tags) && isSettled(row.properties, change.properties))) return found
  return { row: (await updateRuntimeConversation(db, caller, row.id, change)) ?? row, created: false }
}

/**
 * Wakes a worker for the event of a new conversation, with which a flow of the bot begins.
 *
 * @param hasEvent undefined when the call was replayed: the event may wait still
 */
export async function wakeForStart(context: BotContext, conversationId: string, hasEvent = true): Promise<void> {
  if (hasEvent) await wakeWorker(context, 'event', conversationId, context.caller.botId)
}

/** Creates a user. An integration's users are its own. */
export async function createUser(
  context: BotContext,
  db: Database,
  { tags, properties, integrationName, name, pictureUrl }: UserInput,
): Promise<UserRow> {
  const { caller } = context
  const belongs =
    caller.installation ?? (integrationName && (await findInstallationFor({ ...context, db }, integrationName)))
  const row = await insertUser(db, {
    id: newId('user'),
    botId: caller.botId,
    name,
    pictureUrl,
    tags: toStoredTags(caller, tags),
    properties: toStoredTags({}, properties),
    ...(belongs && { installationId: belongs.id }),
  })
  if (!row) throw new Error('The inserted user was not returned')
  return row
}

/** Finds the caller's user with these tags, or creates it. */
export async function getOrCreateUser(context: BotContext, db: Database, given: UserInput): Promise<Got<UserRow>> {
  const { caller } = context
  const match = toMatch(caller, given.tags ?? {}, given.discriminateByTags)
  const create = (on: Database) => createUser(context, on, given)
  if (!match) return { row: await create(db), created: true }
  const found = await findOrCreate(db, ['user', caller.botId, caller.installation?.id, match.present], {
    find: (on) => findMatchingUser(on, caller, match),
    create,
  })
  const { row } = found
  const { name, pictureUrl } = given
  const change = { tags: toChange(caller, given.tags), properties: toChange({}, given.properties), name, pictureUrl }
  const isUpToDate =
    isSettled(row.tags, change.tags) &&
    isSettled(row.properties, change.properties) &&
    (name ?? row.name) === row.name &&
    (pictureUrl ?? row.picture_url) === row.picture_url
  if (found.created || isUpToDate) return found
  return { row: (await updateRuntimeUser(db, caller, row.id, change)) ?? row, created: false }
}
