import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { openRetention } from '../../../worker/periodic/retention.ts'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'
import { installWebchat, visit } from '../../support/webchat.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

const patience = { timeout: 20_000, interval: 50 }

const code = `
  export const hooks = {
    async afterIncomingMessage({ event, client, state, logger }) {
      const { conversationId, userId } = event
      state.conversation.heard = event.preview
      await client.setState({ type: 'user', id: userId, name: 'notes', payload: { text: event.preview } })
      await client.createMessage({ conversationId, type: 'text', payload: { text: 'yes' } })
      logger.info('heard ' + event.preview)
    },
  }`

const db = () => platform.context.db

/** Passes until no kind has more. @returns the number of passes */
async function sweep(rows = 2000): Promise<number> {
  const retention = openRetention(platform.context, rows)
  let passes = 1
  while (await retention.pass()) passes++
  return passes
}

async function openBot(retention: object, source: string | undefined = code, fields = {}): Promise<DeployedBot> {
  const bot = await platform.createBot(source, fields)
  await keep(bot, retention)
  return bot
}

async function keep({ id }: DeployedBot, retention: object): Promise<void> {
  const { status, body } = await platform.ask('PUT', `/v1/admin/bots/${id}`, { retention })
  expect({ status, retention: body.bot.retention }).toEqual({ status: 200, retention })
}

const asBot = (bot: DeployedBot, method: string, path: string, body?: object) =>
  platform.ask(method, `/v1/chat${path}`, body, { 'x-bot-id': bot.id })

interface Talk {
  user: ChatUser
  id: string
}

/** A conversation in which the bot has answered. */
async function talk(bot: DeployedBot, text = 'hello'): Promise<Talk> {
  const user = await createChatUser(bot.chatUrl)
  const id = await user.createConversation()
  await user.send(id, text)
  await settled(bot)
  return { user, id }
}

async function settled({ id }: DeployedBot): Promise<void> {
  const pending = async () => (await db()('events').where({ bot_id: id, status: 'pending' })).length
  await expect.poll(pending, patience).toBe(0)
}

/** SQL that moves times back by days. */
const earlier = (...columns: string[]) =>
  columns.map((column) => `${column} = ${column} - :days * interval '1 day'`).join(', ')

/** Makes all that a bot has older. */
async function age({ id }: DeployedBot, days: number): Promise<void> {
  const by = { id, days }
  await db().raw(`update messages set ${earlier('created_at')} where bot_id = :id`, by)
  await db().raw(`update events set ${earlier('created_at')} where bot_id = :id`, by)
  await db().raw(`update conversations set ${earlier('created_at', 'updated_at', 'clock')} where bot_id = :id`, by)
  await db().raw(`update workflows set ${earlier('created_at', 'completed_at')} where bot_id = :id`, by)
  await db().raw(`update users set ${earlier('created_at', 'updated_at', 'active_at')} where bot_id = :id`, by)
}

const conversationsOf = async ({ id }: DeployedBot) =>
  (await db()('conversations').where({ bot_id: id }).orderBy('id').select('id')).map((row) => row.id)

const usersOf = async ({ id }: DeployedBot) =>
  (await db()('users').where({ bot_id: id }).whereNot({ id }).orderBy('id').select('id')).map((row) => row.id)

const remind = (bot: DeployedBot, fields: object) =>
  asBot(bot, 'POST', '/events', { type: 'reminder', payload: {}, ...fields })
const eventsOf = async ({ id }: DeployedBot) =>
  (await db()('events').where({ bot_id: id }).orderBy('id').select('type')).map(({ type }) => type)
const workflowsOf = async ({ id }: DeployedBot) =>
  (await db()('workflows').where({ bot_id: id }).orderBy('name').select('name')).map(({ name }) => name)

async function begin(bot: DeployedBot, name: string, fields: object = {}): Promise<string> {
  const { status, body } = await asBot(bot, 'POST', '/workflows', { name, status: 'pending', input: {}, ...fields })
  expect(status).toBe(201)
  await settled(bot)
  return body.workflow.id
}

const end = (bot: DeployedBot, id: string) => asBot(bot, 'PUT', `/workflows/${id}`, { status: 'completed', output: {} })

const textsOf = async (conversationId: string) =>
  (await db()('messages').where({ conversation_id: conversationId }).orderBy('created_at').select('payload')).map(
    ({ payload }) => payload['text'],
  )

/** The numbers of rows that a bot still has. */
async function rowsOf({ id }: DeployedBot): Promise<Record<string, number>> {
  const count = async (sql: string) => Number((await db().raw(`select count(*) from ${sql}`, { id })).rows[0].count)
  return {
    messages: await count('messages where bot_id = :id'),
    events: await count('events where bot_id = :id'),
    journals: await count('effects join events on events.id = event_id where bot_id = :id'),
    states: await count(`states where bot_id = :id and type = 'conversation'`),
    logs: await count('logs where bot_id = :id'),
    handovers: await count('handovers where bot_id = :id'),
    notes: await count('handover_notes join handovers on handovers.id = handover_id where bot_id = :id'),
    files: await count('files where bot_id = :id'),
  }
}

const nothing = { messages: 0, events: 0, journals: 0, states: 0, logs: 0, handovers: 0, notes: 0, files: 0 }

describe('the setting', () => {
  test('is of a bot, in days, and is completed by the operator’s, which keeps everything by default', async () => {
    const bot = await platform.createBot(code)
    const read = async () => (await platform.ask('GET', `/v1/admin/bots/${bot.id}`)).body.bot
    const never = { messageDays: 0, conversationDays: 0, eventDays: 0, userDays: 0 }
    expect(await read()).toMatchObject({ retention: {}, retentionInEffect: never })
    await keep(bot, { conversationDays: 30, userDays: 0 })
    expect(await read()).toMatchObject({ retentionInEffect: { ...never, conversationDays: 30 } })
    for (const wrong of [{ conversationDays: -1 }, { messageDays: 3651 }, { eventDays: 0.5 }]) {
      const { status } = await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { retention: wrong })
      expect(status).toBe(400)
    }
    const { body } = await platform.ask('GET', `/v1/admin/workspaces/${platform.workspaceId}/audit-records`)
    expect(JSON.stringify(body.records)).toContain('retention')
  })

  test('deletes nothing unless it is given, and the operator’s default is for bots without their own', async () => {
    await using own = await openPlatform({ environment: { RETENTION_CONVERSATION_DAYS: '30' } })
    const create = async () => {
      const bot = await own.createBot()
      const user = await createChatUser(bot.chatUrl)
      await user.send(await user.createConversation(), 'hello')
      return bot
    }
    const [plain, keeping, longer] = [await create(), await create(), await create()]
    await own.ask('PUT', `/v1/admin/bots/${keeping.id}`, { retention: { conversationDays: 0 } })
    await own.ask('PUT', `/v1/admin/bots/${longer.id}`, { retention: { conversationDays: 60 } })
    const pending = async () => (await own.context.db('events').where({ status: 'pending' })).length
    await expect.poll(pending, patience).toBe(0)
    await own.context.db.raw(
      `update conversations set ${['created_at', 'updated_at', 'clock'].map((name) => `${name} = now() - interval '31 days'`).join(', ')}`,
    )
    await openRetention(own.context).pass()
    const left = async (bot: DeployedBot) => (await own.context.db('conversations').where({ bot_id: bot.id })).length
    expect([await left(plain), await left(keeping), await left(longer)]).toEqual([0, 1, 1])
  })
})

describe('a conversation', () => {
  test('goes with everything that belongs to it, once it has had no entry for the time, and others stay', async () => {
    const bot = await openBot({ conversationDays: 30 })
    const other = await openBot({})
    const old = await talk(bot)
    const elsewhere = await talk(other)
    await asBot(bot, 'POST', `/conversations/${old.id}/handover`, {})
    const path = `/v1/admin/bots/${bot.id}`
    const [{ id: handoverId }] = (await platform.ask('GET', `${path}/handovers`)).body.handovers
    await platform.ask('POST', `${path}/handovers/${handoverId}/notes`, { text: 'call back' })
    await asBot(bot, 'DELETE', `/conversations/${old.id}/handover`)
    await settled(bot)
    await age(bot, 31)
    await age(other, 31)
    const fresh = await talk(bot)
    const before = await rowsOf(bot)
    expect(before).toMatchObject({ messages: 4, handovers: 1, notes: 1 })
    const counted = await deletedRows()
    await sweep()
    expect(await conversationsOf(bot)).toEqual([fresh.id])
    expect(await conversationsOf(other)).toEqual([elsewhere.id])
    const after = await rowsOf(bot)
    expect(after).toMatchObject({ messages: 2, events: 1, states: 1, handovers: 0, notes: 0 })
    expect(after['journals']).toBe(before['journals']! / 2)
    expect(after['logs']).toBe(before['logs']! / 2)
    const since = await deletedRows()
    expect(since['conversation']! - (counted['conversation'] ?? 0)).toBe(1)
    expect(since['message']! - (counted['message'] ?? 0)).toBe(2)
    await age(bot, 31)
    await sweep()
    expect(await rowsOf(bot)).toEqual(nothing)
  })

  test('stays while an event waits or is scheduled, people answer, a workflow or a flow is in progress, and goes afterwards', async () => {
    const ask = { id: 'ask', type: 'capture', message: 'Who?', variable: 'workflow.who' }
    const flows = [{ id: 'main', start: 'first', nodes: [{ id: 'first', cards: [ask] }] }]
    const flowBot = await openBot({ conversationDays: 30 }, undefined, { flows })
    const asked = await talk(flowBot)
    const bot = await openBot({ conversationDays: 30, messageDays: 30 })
    const [waiting, scheduled, answered, working] = [await talk(bot), await talk(bot), await talk(bot), await talk(bot)]
    const [event] = await db()('events').where({ conversation_id: waiting.id })
    await db()('events')
      .where({ id: event!.id })
      .update({ status: 'pending', available_at: new Date('2100-01-01') })
    const later = { type: 'reminder', payload: {}, conversationId: scheduled.id, schedule: { delay: 3_600_000 } }
    const { body: created } = await asBot(bot, 'POST', '/events', later)
    await asBot(bot, 'POST', `/conversations/${answered.id}/handover`, {})
    const workflow = { name: 'order', status: 'pending', input: {}, conversationId: working.id }
    const { body: begun } = await asBot(bot, 'POST', '/workflows', workflow)
    expect(begun).toMatchObject({ workflow: { status: 'pending' } })
    await expect
      .poll(async () => (await db()('events').where({ bot_id: bot.id, status: 'pending' })).length, patience)
      .toBe(1)
    for (const aged of [bot, flowBot]) await age(aged, 31)
    await sweep()
    expect(await conversationsOf(bot)).toEqual([waiting, scheduled, answered, working].map(({ id }) => id).toSorted())
    for (const { id } of [waiting, scheduled, answered, working]) expect(await textsOf(id)).toEqual(['hello', 'yes'])
    expect(await conversationsOf(flowBot)).toEqual([asked.id])

    await db()('events').where({ id: event!.id }).update({ status: 'processed' })
    await db()('events').where({ id: created.event.id }).update({ status: 'canceled' })
    await asBot(bot, 'DELETE', `/conversations/${answered.id}/handover`)
    await asBot(bot, 'PUT', `/workflows/${begun.workflow.id}`, { status: 'completed', output: {} })
    await settled(bot)
    await asBot(flowBot, 'DELETE', `/conversations/${asked.id}/flow`)
    await settled(flowBot)
    for (const aged of [bot, flowBot]) await age(aged, 31)
    await sweep()
    expect(await conversationsOf(bot)).toEqual([])
    expect(await conversationsOf(flowBot)).toEqual([])
  })

  test('whose flow waits for an answer without a limit goes, because the answer might never come', async () => {
    const ask = { id: 'ask', type: 'capture', message: 'Who?', variable: 'workflow.who' }
    const flows = [{ id: 'main', start: 'first', timeout: { seconds: 0 }, nodes: [{ id: 'first', cards: [ask] }] }]
    const bot = await openBot({ conversationDays: 30 }, undefined, { flows })
    await talk(bot)
    expect(await db()('states').where({ bot_id: bot.id, name: '$flow' })).toHaveLength(1)
    await age(bot, 31)
    await sweep()
    expect(await rowsOf(bot)).toEqual(nothing)
  })

  test('in which somebody writes at the same moment stays', async () => {
    const bot = await openBot({ conversationDays: 30 })
    const { id } = await talk(bot)
    await age(bot, 31)
    // The writer of a message advances the clock of the conversation, and has not committed yet.
    const writer = await db().transaction()
    await writer('conversations').where({ id }).update({ clock: writer.fn.now() })
    await sweep()
    expect(await conversationsOf(bot)).toEqual([id])
    await writer.commit()
    await sweep()
    expect(await textsOf(id)).toEqual(['hello', 'yes'])
  })

  test('goes with the files that a visitor of the web chat has sent in it, and those of others stay', async () => {
    const bot = await openBot({ conversationDays: 30 }, 'export const hooks = {}')
    const url = await installWebchat(platform, bot.id)
    const ann = await visit(url)
    const sendFile = async (tags: object) => {
      const { body } = await ann.ask('POST', '/files', { key: 'notes.txt', size: 5, tags })
      await fetch(body.file.uploadUrl, { method: 'PUT', body: 'hello' })
      return body.file.url as string
    }
    const inIt = await sendFile({ conversation: ann.conversationId })
    const elsewhere = await sendFile({})
    await ann.say({ type: 'file', fileUrl: inIt })
    await ann.stream.close()
    await settled(bot)
    await age(bot, 31)
    await sweep()
    expect(await conversationsOf(bot)).toEqual([])
    expect([(await fetch(inIt)).status, (await fetch(elsewhere)).status]).toEqual([404, 200])
    // The visitor has come back: the web chat begins anew.
    const { status, body } = await ann.ask('GET', '/conversations')
    expect({ status, conversations: body.conversations }).toEqual({ status: 200, conversations: [] })
    const back = await visit(url, { key: ann.key, conversationId: ann.conversationId })
    expect(back.init.user.id).toBe(ann.init.user.id)
    expect(back.conversationId).not.toBe(ann.conversationId)
    await back.stream.close()
  })

  test('of many rows goes in bounded passes, which another worker continues when the first is killed within one', async () => {
    const bot = await openBot({ conversationDays: 30 })
    const { id, user } = await talk(bot)
    await db().raw(
      `insert into messages (id, bot_id, conversation_id, user_id, type, direction, payload, tags, created_at, updated_at)
       select 'msg_' || lpad(number::text, 26, '0'), :bot, :id, :user, 'text', 'incoming', '{"text":"more"}', '{}', now(), now()
       from generate_series(1, 5000) number`,
      { id, bot: bot.id, user: user.userId },
    )
    await age(bot, 31)
    const count = async () => Number((await db()('messages').where({ conversation_id: id }).count())[0]!['count'])
    await openRetention(platform.context, 1000).pass()
    const left = await count()
    expect(left).toBeGreaterThan(3000)
    expect(left).toBeLessThan(5000)
    // The next pass waits for a row, and its worker dies there: the server sees its connection end.
    const holder = await db().transaction()
    await holder('messages').where({ conversation_id: id }).orderBy('created_at', 'desc').limit(200).forUpdate()
    const dying = openRetention(platform.context, 1000).pass()
    const killed = async () => {
      const { rows } = await db().raw(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where wait_event_type = 'Lock' and query like '%delete from messages using%' and datname = current_database()`,
      )
      return rows.length
    }
    await expect.poll(killed, patience).toBe(1)
    await dying
    await holder.rollback()
    expect(await count()).toBe(left)
    await sweep(1000)
    expect(await conversationsOf(bot)).toEqual([])
    expect(await count()).toBe(0)
  })
})

describe('messages', () => {
  test('go by their age with the events of conversations, and newer ones and the conversation stay', async () => {
    const bot = await openBot({ messageDays: 30 })
    const { id, user } = await talk(bot, 'old')
    const without = { type: 'reminder', payload: {}, schedule: { delay: 0 } }
    await asBot(bot, 'POST', '/events', without)
    await settled(bot)
    await age(bot, 31)
    await user.send(id, 'new')
    await settled(bot)
    await sweep(7)
    expect(await textsOf(id)).toEqual(['new', 'yes'])
    const events = await db()('events').where({ bot_id: bot.id }).select('type')
    expect(events.map(({ type }) => type).toSorted()).toEqual(['message_created', 'reminder'])
    expect(await conversationsOf(bot)).toEqual([id])
    const heard = await db()('logs').where({ bot_id: bot.id }).select('message')
    expect(JSON.stringify(heard)).not.toContain('heard old')
  })
})

test('a conversation whose messages are counted has the number of those that are left', async () => {
  const bot = await openBot({ messageDays: 30 })
  const { id, user } = await talk(bot, 'old')
  await db().raw(
    `insert into messages (id, bot_id, conversation_id, user_id, type, direction, payload, created_at, updated_at)
     select 'msg_' || lpad(number::text, 26, '0') || :id, :bot, :id, :user, 'text', 'incoming', '{"text":"more"}', at, at
     from generate_series(1, 1500) number, lateral (select now() - number * interval '1 hour' as at) time`,
    { id, bot: bot.id, user: user.userId },
  )
  const numberOf = async () => (await asBot(bot, 'GET', `/conversations/${id}`)).body.conversation.messageCount
  const counted = async () => (await db()('message_counts').where({ conversation_id: id }).first())?.counted
  await db()('conversations').where({ id }).update({ clock: db().fn.now() })
  expect([await numberOf(), await counted()]).toEqual([1502, 1500])
  await sweep(400)
  const left = 30 * 24 - 1
  expect([await numberOf(), await counted()]).toEqual([left + 2, left])
  await user.send(id, 'new')
  await settled(bot)
  expect(await numberOf()).toBe(left + 4)
})

describe('events and workflows without a conversation', () => {
  test('go by their age with journals and states; what waits, is scheduled, in progress or newer stays, and conversations too', async () => {
    const bot = await openBot(
      { eventDays: 30 },
      `
      export const hooks = {
        async afterIncomingEvent({ event, client, logger }) {
          if (event.type !== 'reminder') return
          await client.setState({ type: 'bot', id: event.botId, name: 'last', payload: { at: event.id } })
          logger.info('reminded')
        },
      }`,
    )
    const { id: conversation } = await talk(bot)
    await remind(bot, { schedule: { delay: 0 } })
    const reminded = async () =>
      (await db()('events').where({ bot_id: bot.id, type: 'reminder', status: 'processed' })).length
    await expect.poll(reminded, patience).toBe(1)
    await remind(bot, { schedule: { delay: 3_600_000 } })
    const [done, going] = [await begin(bot, 'done'), await begin(bot, 'going')]
    const noted = await asBot(bot, 'POST', `/states/workflow/${done}/notes`, { payload: { text: 'x' } })
    expect(noted).toMatchObject({ status: 200 })
    await end(bot, done)
    await settled(bot)
    await age(bot, 31)
    const fresh = await begin(bot, 'fresh')
    await end(bot, fresh)
    await settled(bot)
    await sweep(7)
    expect(await workflowsOf(bot)).toEqual(['fresh', 'going'])
    const left = await eventsOf(bot)
    expect(left.filter((type) => type === 'reminder')).toHaveLength(1)
    expect(left).toContain('message_created')
    expect(await db()('events').where({ bot_id: bot.id, workflow_id: done })).toEqual([])
    expect(await db()('events').where({ bot_id: bot.id, workflow_id: going })).not.toEqual([])
    expect(await db()('states').where({ bot_id: bot.id, type: 'workflow' })).toEqual([])
    expect(await conversationsOf(bot)).toEqual([conversation])
    const orphans = await db().raw(
      'select count(*)::integer from logs where bot_id = :id and event_id is not null and event_id not in (select id from events)',
      { id: bot.id },
    )
    expect(orphans.rows[0].count).toBe(0)

    await end(bot, going)
    await settled(bot)
    await age(bot, 31)
    await sweep()
    expect(await workflowsOf(bot)).toEqual([])
  })

  test('of a family go from the youngest on, and none of them while one is in progress', async () => {
    const bot = await openBot({ eventDays: 30 })
    const parent = await begin(bot, 'parent')
    const child = await begin(bot, 'child', { parentWorkflowId: parent })
    for (const id of [child, parent]) await end(bot, id)
    const grandchild = await begin(bot, 'grandchild', { parentWorkflowId: child })
    await settled(bot)
    await age(bot, 31)
    await sweep()
    expect(await workflowsOf(bot)).toEqual(['child', 'grandchild', 'parent'])
    await end(bot, grandchild)
    await settled(bot)
    await age(bot, 31)
    for (let generation = 0; generation < 3; generation += 1) await sweep()
    expect(await workflowsOf(bot)).toEqual([])
  })

  test('a workflow that gets a child at the same moment stays', async () => {
    const bot = await openBot({ eventDays: 30 })
    const parent = await begin(bot, 'parent')
    await end(bot, parent)
    await settled(bot)
    await age(bot, 31)
    const creator = await db().transaction()
    await creator.raw(
      `insert into workflows (id, bot_id, name, status, parent_id, timeout_at)
       values ('wf_of_a_test', :bot, 'child', 'pending', :parent, now() + interval '1 hour')`,
      { bot: bot.id, parent },
    )
    const sweeping = sweep()
    const waiting = async () =>
      (await db()('pg_stat_activity').where({ wait_event_type: 'Lock' }).whereRaw('datname = current_database()'))
        .length
    await expect.poll(waiting, patience).toBe(1)
    await creator.commit()
    await sweeping
    expect(await workflowsOf(bot)).toEqual(['child', 'parent'])
  })
})

describe('users', () => {
  test('go with states and files once they are in no conversation and have not been active, and their keys end', async () => {
    const bot = await openBot({ userDays: 30 })
    const [talking, silent] = [await talk(bot), await createChatUser(bot.chatUrl)]
    await asBot(bot, 'PUT', `/states/user/${silent.userId}/notes`, { payload: { text: 'x' } })
    const given = { key: 'a.txt', size: 1, contentType: 'text/plain' }
    const headers = { 'x-bot-id': bot.id, 'x-user-id': silent.userId }
    expect((await platform.ask('PUT', '/v1/files', given, headers)).status).toBe(200)
    await age(bot, 31)
    const fresh = await createChatUser(bot.chatUrl)
    await sweep()
    expect(await usersOf(bot)).toEqual([talking.user.userId, fresh.userId].toSorted())
    expect(await db()('states').where({ owner_id: silent.userId })).toEqual([])
    expect(await db()('files').where({ bot_id: bot.id })).toEqual([])
    expect((await silent.ask('GET', '/users/me')).status).toBe(404)
    // The bot is a user too, and stays.
    expect(await db()('users').where({ id: bot.id })).toHaveLength(1)
  })

  test('stay as long as since their last conversation was active, after that has gone', async () => {
    const bot = await openBot({ conversationDays: 10, userDays: 30 })
    const { user } = await talk(bot)
    await age(bot, 11)
    await db()('users')
      .where({ id: user.userId })
      .update({
        created_at: db().raw(`now() - interval '100 days'`),
        updated_at: db().raw(`now() - interval '100 days'`),
      })
    await sweep()
    expect(await conversationsOf(bot)).toEqual([])
    expect(await usersOf(bot)).toEqual([user.userId])
    await age(bot, 20)
    await sweep()
    expect(await usersOf(bot)).toEqual([])
  })

  test('for whom an event is scheduled stay', async () => {
    const bot = await openBot({ userDays: 30 })
    const user = await createChatUser(bot.chatUrl)
    const later = { type: 'reminder', payload: {}, userId: user.userId, schedule: { delay: 3_600_000 } }
    expect((await asBot(bot, 'POST', '/events', later)).status).toBe(201)
    await age(bot, 31)
    await sweep()
    expect(await usersOf(bot)).toEqual([user.userId])
  })
})

test('requests to erase a person go a year after their end, with their ids and findings', async () => {
  const { workspaceId } = platform
  const [old, recent, waiting] = [newId('datareq'), newId('datareq'), newId('datareq')]
  const ended = (days: number) => db().raw(`now() - ${days} * interval '1 day'`)
  const made = { workspace_id: workspaceId, erases_findings: false }
  await db()('data_requests').insert([
    { ...made, id: old, status: 'completed', completed_at: ended(366) },
    { ...made, id: recent, status: 'completed', completed_at: ended(364) },
    // Nobody carries it out before then.
    { ...made, id: waiting, status: 'pending', created_at: ended(366), due_at: new Date('2100-01-01') },
  ])
  for (const id of [old, recent]) {
    await db()('data_request_ids').insert({ request_id: id, kind: 'user', id: 'user_x', bot_id: 'bot_x' })
    await db()('data_findings').insert({ request_id: id, id: 'log:1', kind: 'log', bot_id: 'bot_x', address: {} })
  }
  await sweep()
  const left = async (table: 'data_request_ids' | 'data_findings') =>
    (await db()(table).whereIn('request_id', [old, recent]).select('request_id')).map((row) => row.request_id)
  const rows = await db()('data_requests').whereIn('id', [old, recent, waiting]).orderBy('id').select('id')
  expect(rows.map(({ id }) => id)).toEqual([recent, waiting].toSorted())
  expect([await left('data_request_ids'), await left('data_findings')]).toEqual([[recent], [recent]])
})

/** The counter of rows that retention has deleted, by kind. */
async function deletedRows(): Promise<Record<string, number>> {
  const { values } = await platform.context.metrics.retentionDeletes.get()
  return Object.fromEntries(values.map(({ labels, value }) => [labels.kind, value]))
}
