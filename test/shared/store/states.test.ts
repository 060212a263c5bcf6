import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { completeEvents, type EventCompletion, type StateChange } from '#shared/store/complete-events.ts'
import { deleteConversation } from '#shared/store/conversations.ts'
import { query, type Database } from '#shared/store/database.ts'
import { eraseRows } from '#shared/store/erase-rows.ts'
import { claimNextEvents } from '#shared/store/mailboxes.ts'
import { ensureState, mergeState, putState, type NewState } from '#shared/store/states.ts'
import { deleteUser } from '#shared/store/users.ts'
import { deleteWorkflow, insertWorkflow } from '#shared/store/workflows.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { countLockWaits } from '../../support/databases.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

/** No state outlives its user, conversation or workflow. */

let platform: Platform
let botId: string
let userId: string
let conversationId: string
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())
beforeEach(async () => {
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  botId = bot.id
  userId = chatUser.userId
  conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'hello')
})

const db = () => platform.context.db

const owners = (): Promise<string[]> => db()('states').where({ bot_id: botId }).orderBy('type').pluck('type')

const waiting = () => countLockWaits(db())

const change = (type: StateChange['type'], ownerId: string): StateChange => ({
  id: `${type}_${ownerId}`,
  type,
  ownerId,
  name: 'state',
  set: { name: 'Ann' },
  removed: [],
})

/** The end of the event that waits, whose run has changed the states of its bot, its conversation and its user. */
async function endOfEvent(): Promise<EventCompletion> {
  const event = (await claimNextEvents(db(), [conversationId]))[0]!
  const states = [change('bot', botId), change('conversation', conversationId), change('user', userId)]
  return { id: event.id, attempt: event.attempt, status: 'processed', states, logs: [] }
}

const deletions = {
  user: (on: Database) => deleteUser(on, botId, userId),
  conversation: (on: Database) => deleteConversation(on, botId, conversationId),
}

describe('the end of an event', () => {
  test('writes no state of a user who has been deleted during the run', async () => {
    const end = await endOfEvent()
    await deletions.user(db())
    expect(await completeEvents(db(), [end])).toEqual([true])
    expect(await owners()).toEqual(['bot', 'conversation'])
  })

  test('writes no state of a user who is deleted at the same moment', async () => {
    const end = await endOfEvent()
    const deletion = await db().transaction()
    await deletions.user(deletion)
    const ended = completeEvents(db(), [end])
    await expect.poll(waiting).toBe(1)
    await deletion.commit()
    expect(await ended).toEqual([true])
    expect(await owners()).toEqual(['bot', 'conversation'])
  })

  test.each([
    ['user', ['bot', 'conversation']],
    ['conversation', ['bot', 'user']],
  ] as const)('that comes before a deletion of the %s leaves no state of it', async (type, left) => {
    const end = await endOfEvent()
    const transaction = await db().transaction()
    expect(await completeEvents(transaction, [end])).toEqual([true])
    const deletion = deletions[type](db())
    await expect.poll(waiting).toBe(1)
    await transaction.commit()
    await deletion
    expect(await owners()).toEqual(left)
  })

  test('leaves no state of a conversation that goes with its installation at the same moment', async () => {
    const end = await endOfEvent()
    const transaction = await db().transaction()
    await completeEvents(transaction, [end])
    const deletion = query(db(), 'delete from installations where bot_id = :botId', { botId })
    await expect.poll(waiting).toBe(1)
    await transaction.commit()
    await deletion
    expect(await owners()).toEqual(['bot'])
  })

  test('writes no state of another conversation', async () => {
    const end = await endOfEvent()
    await completeEvents(db(), [{ ...end, states: [change('conversation', 'conv_other')] }])
    expect(await owners()).toEqual([])
  })

  test('locks no user while it waits for its event, which a removal of an integration deletes before', async () => {
    const end = await endOfEvent()
    const removal = await db().transaction()
    await removal('events').where({ id: end.id }).delete()
    const ended = completeEvents(db(), [end])
    await expect.poll(waiting).toBe(1)
    const locked = await removal.raw('select id from users where id = ? for update nowait', [userId])
    expect(locked.rows).toHaveLength(1)
    await removal.commit()
    expect(await ended).toEqual([false])
    expect(await owners()).toEqual([])
  })

  test('locks the users of several events in the order of their ids, as deletions of several users do', async () => {
    const [first, second] = [newId('user'), newId('user')].toSorted() as [string, string]
    await db()('users').insert([first, second].map((id) => ({ id, bot_id: botId })))
    const end = await endOfEvent()
    const deletion = await db().transaction()
    await deletion.raw('select from users where id = ? for update', [first])
    const ended = completeEvents(db(), [{ ...end, states: [change('user', second), change('user', first)] }])
    await expect.poll(waiting).toBe(1)
    const locked = await deletion.raw('select id from users where id = ? for update nowait', [second])
    expect(locked.rows).toHaveLength(1)
    await deletion.rollback()
    expect(await ended).toEqual([true])
    expect(await owners()).toEqual(['user', 'user'])
  })
})

describe.each(['user', 'conversation', 'workflow'] as const)('a state of a %s', (type) => {
  let state: NewState
  beforeEach(async () => {
    const workflow = { id: newId('workflow'), botId, name: 'errand', status: 'listening', input: {}, tags: {} } as const
    await insertWorkflow(db(), workflow)
    const ownerId = { user: userId, conversation: conversationId, workflow: workflow.id }[type]
    state = { botId, type, ownerId, name: 'x', installationId: null, id: newId('state'), payload: {}, expiry: null }
  })

  const remove = (on: Database) =>
    type === 'workflow' ? deleteWorkflow(on, botId, state.ownerId) : deletions[type](on)

  const writes = {
    putState,
    mergeState: (on: Database, given: NewState) => mergeState(on, given, false),
    ensureState,
  }

  test.each(Object.entries(writes))('is not stored by %s while its owner is deleted', async (_name, write) => {
    await putState(db(), state)
    const deletion = await db().transaction()
    await remove(deletion)
    const written = write(db(), state)
    await expect.poll(waiting).toBe(1)
    await deletion.commit()
    expect(await written).toBeUndefined()
    expect(await owners()).toEqual([])
  })

  test('that is stored before its owner is deleted goes too', async () => {
    const transaction = await db().transaction()
    await putState(transaction, state)
    const deletion = remove(db())
    await expect.poll(waiting).toBe(1)
    await transaction.commit()
    await deletion
    expect(await owners()).toEqual([])
  })

  test('is not stored for an owner of another bot', async () => {
    const other = await platform.createBot()
    expect(await putState(db(), { ...state, botId: other.id })).toBeUndefined()
    expect(await db()('states').where({ owner_id: state.ownerId })).toEqual([])
  })
})

/** Stores a workflow with a state. */
async function begin(fields: object = {}): Promise<string> {
  const given = { id: newId('workflow'), botId, name: 'errand', status: 'listening', input: {}, tags: {} } as const
  const { id } = await insertWorkflow(db(), { ...given, ...fields })
  const state = { botId, type: 'workflow', ownerId: id, name: 'x', installationId: null } as const
  await putState(db(), { ...state, id: newId('state'), payload: {}, expiry: null })
  return id
}

describe('states of workflows', () => {
  test.each([
    ['their parent', (id: string) => deleteWorkflow(db(), botId, id)],
    ['their parent, which is erased', (id: string) => eraseRows(db(), 'workflow', botId, [{ workflowId: id }])],
    ['the conversation of their parent', () => deletions.conversation(db())],
  ])('go with %s', async (_what, remove) => {
    const parentId = await begin({ conversationId })
    await begin({ parentId: await begin({ parentId }) })
    await begin()
    await remove(parentId)
    expect(await owners()).toEqual(['workflow'])
  })
})

test('states go with the user, and with the user of the inbox who stands for the user', async () => {
  const inbox = { id: newId('int'), bot_id: botId, integration: 'inbox', alias: 'inbox', webhook_id: newId('int') }
  await db()('installations').insert(inbox)
  const copy = { id: newId('user'), bot_id: botId, installation_id: inbox.id }
  await db()('users').insert(copy)
  await db()('users')
    .where({ id: userId })
    .update({ tags: { inboxUser: copy.id } })
  for (const ownerId of [userId, copy.id, botId]) {
    const state = { botId, type: 'user', ownerId, name: 'x', installationId: null } as const
    await putState(db(), { ...state, id: newId('state'), payload: {}, expiry: null })
  }
  await deletions.user(db())
  expect(await db()('states').where({ bot_id: botId }).pluck('owner_id')).toEqual([botId])
})
