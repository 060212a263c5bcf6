import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import type { EventRow } from '#shared/models/tables.ts'
import { matchWorkflow, noteHeardEvent, pageOfWorkflows } from '#shared/store/workflows.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { look } from '../../../../worker/periodic/scheduler.ts'
import { clientNames, installIntegration, openClients, type BotWithClients, type Call } from './clients.ts'

let platform: Platform
let own: BotWithClients
let foreign: BotWithClients
beforeAll(async () => {
  platform = await openPlatform()
  own = await openClients(platform)
  foreign = await openClients(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

/** The bot's events about a workflow, oldest first. */
async function updatesOf(workflowId: string): Promise<EventRow[]> {
  return platform.context.db('events').where({ workflow_id: workflowId }).orderBy(['created_at', 'id'])
}

async function updateTypes(workflowId: string): Promise<unknown[]> {
  const events = await updatesOf(workflowId)
  return events.filter(({ type }) => type === 'workflow_update').map(({ payload }) => payload['type'])
}

const idsOf = ({ workflows }: { workflows: { id: string }[] }) => workflows.map(({ id }) => id)

describe.each(clientNames)('through %s', (clientName) => {
  const call: Call = (...given) => own.clients[clientName](...given)
  const create = async (given: object = {}) =>
    (await call('createWorkflow', { name: 'order', status: 'pending', ...given })).workflow

  test('a pending workflow is started by an event with all that belongs to it', async () => {
    const { conversationId, userId } = own
    const before = Date.now()
    const workflow = await create({ conversationId, userId, input: { pizza: 1 }, tags: { table: '7' } })
    expect(workflow).toMatchObject({
      id: expect.stringMatching(/^workflow_/),
      name: 'order',
      status: 'pending',
      conversationId,
      userId,
      input: { pizza: 1 },
      output: {},
      tags: { table: '7' },
    })
    expect(Date.parse(workflow.timeoutAt)).toBeGreaterThan(before + 23 * 3_600_000)
    const [started, ...others] = await updatesOf(workflow.id)
    expect(others).toEqual([])
    expect(started).toMatchObject({
      type: 'workflow_update',
      mailbox: conversationId,
      conversation_id: conversationId,
      user_id: userId,
      payload: { type: 'workflow_started', workflow, conversation: { id: conversationId }, user: { id: userId } },
    })
    await expect.poll(async () => (await updatesOf(workflow.id))[0]?.status).toBe('ignored')
  })

  test('a workflow that does not wait to be started makes no event, and says in which it is in progress', async () => {
    expect(await updatesOf((await create({ status: 'listening' })).id)).toEqual([])
    await expect(create({ status: 'in_progress' })).rejects.toMatchObject({
      type: 'InvalidPayload',
      message: expect.stringContaining('eventId'),
    })
    await expect(create({ status: 'in_progress', eventId: 'evt_none' })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
    })
    const { event } = await call('createEvent', { type: 'x', payload: {}, schedule: { delay: 3_600_000 } })
    const workflow = await create({ status: 'in_progress', eventId: event.id })
    expect(workflow).toMatchObject({ status: 'in_progress' })
    expect(await updatesOf(workflow.id)).toEqual([])
  })

  test('updateWorkflow takes up, completes and describes a workflow', async () => {
    const { id } = await create({ tags: { a: '1', b: '2', c: '3' } })
    const [started] = await updatesOf(id)
    const taken = await call('updateWorkflow', { id, status: 'in_progress', eventId: started!.id })
    expect(taken.workflow).toMatchObject({ status: 'in_progress' })
    const timeoutAt = new Date(Date.now() + 60_000).toISOString()
    const tags = { a: null, b: '', d: '4' }
    const ended = await call('updateWorkflow', { id, status: 'completed', output: { paid: true }, tags, timeoutAt })
    expect(ended.workflow).toMatchObject({
      status: 'completed',
      output: { paid: true },
      tags: { c: '3', d: '4' },
      timeoutAt,
      completedAt: expect.any(String),
    })
    expect((await call('getWorkflow', { id })).workflow).toEqual(ended.workflow)
    expect(await updateTypes(id)).toEqual(['workflow_started'])
  })

  test('a workflow that has ended stays so, but saying the same again is no error', async () => {
    const { id } = await create({ status: 'listening' })
    const failed = await call('updateWorkflow', { id, status: 'failed', failureReason: 'no dough' })
    expect(failed.workflow).toMatchObject({ status: 'failed', failureReason: 'no dough' })
    await expect(call('updateWorkflow', { id, status: 'completed' })).rejects.toMatchObject({ code: 409 })
    const again = await call('updateWorkflow', { id, status: 'failed', tags: { known: 'yes' } })
    expect(again.workflow).toMatchObject({ completedAt: failed.workflow.completedAt, tags: { known: 'yes' } })
  })

  test('a workflow that pauses or listens is continued by an update from another event than its own', async () => {
    const { id } = await create()
    const [started] = await updatesOf(id)
    await call('updateWorkflow', { id, status: 'listening' })
    await call('updateWorkflow', { id, status: 'in_progress', eventId: started!.id })
    expect(await updateTypes(id)).toEqual(['workflow_started'])
    await call('updateWorkflow', { id, status: 'paused' })
    const { event } = await call('createEvent', { type: 'paid', payload: {} })
    await call('updateWorkflow', { id, status: 'in_progress', eventId: event.id })
    expect(await updateTypes(id)).toEqual(['workflow_started', 'workflow_continued'])
  })

  test('an open parent receives the end or deletion of a child once', async () => {
    const parent = await create({ status: 'listening', conversationId: own.conversationId })
    const child = async () => create({ status: 'listening', parentWorkflowId: parent.id })
    const [first, second, third] = [await child(), await child(), await child()]
    await call('updateWorkflow', { id: first.id, status: 'cancelled' })
    await call('updateWorkflow', { id: first.id, status: 'cancelled' })
    await call('deleteWorkflow', { id: second.id })
    // A parent that listens is continued when it has heard of a child, and a slow machine lets it be before the test goes on.
    const updates = async () =>
      (await updatesOf(parent.id)).map(({ payload }) => payload).filter(({ type }) => type !== 'workflow_continued')
    expect(await updates()).toMatchObject([
      {
        type: 'child_workflow_finished',
        workflow: { id: parent.id },
        childWorkflow: { id: first.id, status: 'cancelled', parentWorkflowId: parent.id },
      },
      { type: 'child_workflow_deleted', childWorkflow: { id: second.id } },
    ])
    await call('updateWorkflow', { id: parent.id, status: 'completed' })
    await call('updateWorkflow', { id: third.id, status: 'completed' })
    expect(await updates()).toHaveLength(2)
    await call('deleteWorkflow', { id: parent.id })
    await expect(call('getWorkflow', { id: third.id })).rejects.toMatchObject({ code: 404, type: 'ResourceNotFound' })
  })

  test('listWorkflows gives those that fit all filters, page by page, newest first', async () => {
    const name = newId('check')
    const ids: string[] = []
    for (const n of ['1', '2', '3'])
      ids.unshift((await create({ name, status: 'listening', tags: { n, all: 'yes' } })).id)
    const page = await call('listWorkflows', {
      name,
      tags: { all: 'yes' },
      statuses: ['listening', 'paused'],
      pageSize: 2,
    })
    expect(idsOf(page)).toEqual(ids.slice(0, 2))
    const { nextToken } = page.meta
    expect(idsOf(await call('listWorkflows', { name, tags: { all: 'yes' }, nextToken }))).toEqual(ids.slice(2))
    expect(idsOf(await call('listWorkflows', { name, tags: { n: '2' } }))).toEqual([ids[1]])
    expect(idsOf(await call('listWorkflows', { name, statuses: ['completed'] }))).toEqual([])
    expect(idsOf(await call('listWorkflows', { name, userId: own.userId }))).toEqual([])
  })

  test('a tag to discriminate by may be called as what every object has', async () => {
    const name = newId('check')
    const given = { name, status: 'listening', discriminateByTags: ['order', 'hasOwnProperty'] }
    const { workflow } = await call('getOrCreateWorkflow', { ...given, tags: { order: '1' } })
    const found = { workflow: { id: workflow.id }, meta: { created: false } }
    expect(await call('getOrCreateWorkflow', { ...given, tags: { order: '1' } })).toMatchObject(found)
    const other = await call('getOrCreateWorkflow', { ...given, tags: { order: '1', hasOwnProperty: 'x' } })
    expect(other).toMatchObject({ meta: { created: true } })
  })

  test('getOrCreateWorkflow finds by name and tags, and what it finds gets the tags', async () => {
    const name = newId('check')
    const find = (given: object) => call('getOrCreateWorkflow', { name, status: 'listening', ...given })
    const { workflow } = await find({ tags: { order: '1', mood: 'good' } })
    const found = { workflow: { id: workflow.id }, meta: { created: false } }
    expect(await find({ tags: { order: '1', mood: 'good' } })).toMatchObject(found)
    const byOrder = { tags: { order: '1', mood: 'bad' }, discriminateByTags: ['order'] }
    expect(await find(byOrder)).toMatchObject({ ...found, workflow: { tags: { order: '1', mood: 'bad' } } })
    for (const other of [{ tags: { order: '1' } }, { tags: { order: '2' }, discriminateByTags: ['order'] }]) {
      expect(await find(other)).toMatchObject({ meta: { created: true } })
    }
    await call('updateWorkflow', { id: workflow.id, status: 'completed' })
    expect(
      await find({ ...byOrder, tags: { order: '1', mood: 'bad' }, discriminateByStatusGroup: 'finished' }),
    ).toMatchObject(found)
    expect(await find({ tags: { order: '1', mood: 'bad' }, discriminateByStatusGroup: 'active' })).toMatchObject({
      meta: { created: true },
    })
  })

  test('of many that get or create the same workflow at once, one creates it and starts it', async () => {
    const given = { name: newId('check'), status: 'pending', tags: { only: 'one' } }
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('getOrCreateWorkflow', given)))
    expect(new Set(answers.map(({ workflow }) => workflow.id)).size).toBe(1)
    expect(answers.filter(({ meta }) => meta.created)).toHaveLength(1)
    expect(await updateTypes(answers[0].workflow.id)).toEqual(['workflow_started'])
  })

  test('nothing of another bot is reached or referred to', async () => {
    const { workflow } = await foreign.clients[clientName]('createWorkflow', { name: 'x', status: 'listening' })
    for (const operation of ['getWorkflow', 'updateWorkflow', 'deleteWorkflow']) {
      await expect(call(operation, { id: workflow.id })).rejects.toMatchObject({ code: 404, type: 'ResourceNotFound' })
    }
    const { conversationId, userId } = foreign
    for (const reference of [{ conversationId }, { userId }, { parentWorkflowId: workflow.id }]) {
      await expect(create(reference)).rejects.toMatchObject({ code: 400, type: 'ReferenceNotFound' })
    }
  })

  test('trackAnalytics adds up what is counted on a day', async () => {
    const name = newId('check')
    await call('trackAnalytics', { name, count: 2 })
    await call('trackAnalytics', { name, count: 3 })
    const rows = await platform.context.db('analytics').where({ bot_id: own.botId, name })
    expect(rows).toMatchObject([{ count: '5' }])
    await expect(call('trackAnalytics', { name, count: 0 })).rejects.toMatchObject({ type: 'InvalidPayload' })
  })

  test('captureObservation writes into the bot’s log', async () => {
    const name = newId('check')
    const { conversationId } = own
    await call('captureObservation', { name, data: { tokens: 12 }, traceId: 't1', conversationId })
    const rows = await platform.context.db('logs').where({ bot_id: own.botId }).whereLike('message', `%${name}%`)
    expect(rows).toMatchObject([{ level: 'info', conversation_id: conversationId }])
    expect(rows[0]!.message).toContain('"data":{"tokens":12}')
  })

  test('captureObservation cuts what is longer than a line of the log', async () => {
    const name = newId('check')
    await call('captureObservation', { name, data: { text: '😀'.repeat(100_000) } })
    const [row] = await platform.context.db('logs').where({ bot_id: own.botId }).whereLike('message', `%${name}%`)
    expect(row!.message).toMatch(/^Observation .*😀.*…$/u)
    expect(row!.message.length).toBeLessThanOrEqual(4096)
  })
})

test('workflows are not for integrations', async () => {
  const mail = await installIntegration(platform, own.botId, 'mail')
  const { workflow } = await own.clients['the published client']('createWorkflow', { name: 'x', status: 'listening' })
  const forbidden = { status: 403, body: { type: 'Forbidden' } }
  const created = { name: 'x', status: 'pending' }
  expect(await mail.ask('POST', '/v1/chat/workflows', created)).toMatchObject(forbidden)
  expect(await mail.ask('GET', `/v1/chat/workflows/${workflow.id}`)).toMatchObject(forbidden)
  expect(await mail.ask('DELETE', `/v1/chat/workflows/${workflow.id}`)).toMatchObject(forbidden)
})

test('a bot’s code receives a workflow’s start and acknowledges it', async () => {
  const bot = await platform.createBot(`
    export const hooks = {
      async afterIncomingEvent({ event, client }) {
        if (event.payload.type !== 'workflow_started') return
        const { workflow } = event.payload
        await client.updateWorkflow({ id: workflow.id, status: 'in_progress', eventId: event.id })
        await client.updateWorkflow({ id: workflow.id, status: 'completed', output: { doubled: workflow.input.n * 2 } })
      },
    }`)
  const asBot = { 'x-bot-id': bot.id }
  const given = { name: 'double', status: 'pending', input: { n: 21 } }
  const { body } = await platform.ask('POST', '/v1/chat/workflows', given, asBot)
  await expect
    .poll(async () => {
      const answer = await platform.ask('GET', `/v1/chat/workflows/${body.workflow.id}`, undefined, asBot)
      return answer.body.workflow
    })
    .toMatchObject({ status: 'completed', output: { doubled: 42 } })
})

describe('a workflow that its handler leaves in progress', () => {
  const code = `
    export const hooks = {
      async afterIncomingEvent({ event, client }) {
        const { type, workflow } = event.payload
        if (type === 'begin') {
          await client.createWorkflow({ name: event.payload.name, status: 'in_progress', eventId: event.id })
          if (event.payload.fails) throw new Error('as told')
        } else if (type === 'workflow_started') {
          await client.updateWorkflow({ id: workflow.id, status: 'in_progress', eventId: event.id })
        } else if (type === 'workflow_continued') {
          const turns = (workflow.output.turns ?? 0) + 1
          const status = turns === 2 ? { status: 'completed' } : {}
          await client.updateWorkflow({ id: workflow.id, output: { turns }, ...status })
          if (workflow.input.fails) throw new Error('as told')
        }
      },
    }`
  let asBot: Record<string, string>
  beforeAll(async () => {
    asBot = { 'x-bot-id': (await platform.createBot(code)).id }
  })
  const begin = async (given: object): Promise<string> =>
    (await platform.ask('POST', '/v1/chat/workflows', { name: 'long', status: 'pending', ...given }, asBot)).body
      .workflow.id
  const get = async (id: string) =>
    (await platform.ask('GET', `/v1/chat/workflows/${id}`, undefined, asBot)).body.workflow

  test('gets an event after each that has ended, until it is completed', async () => {
    const id = await begin({})
    await expect.poll(() => get(id), { timeout: 20_000 }).toMatchObject({ status: 'completed', output: { turns: 2 } })
    expect(await updateTypes(id)).toEqual(['workflow_started', 'workflow_continued', 'workflow_continued'])
  })

  test.each([
    ['begun', {}],
    ['failed', { fails: true }],
  ])('is continued after the event in which it was created in progress, which has %s', async (name, how) => {
    await platform.ask('POST', '/v1/chat/events', { type: 'begin', payload: { type: 'begin', name, ...how } }, asBot)
    const find = async () =>
      (await platform.ask('GET', `/v1/chat/workflows?name=${name}`, undefined, asBot)).body.workflows
    await expect.poll(find, { timeout: 20_000 }).toMatchObject([{ status: 'completed', output: { turns: 2 } }])
    const [{ id }] = await find()
    expect(await updateTypes(id)).toEqual(['workflow_continued', 'workflow_continued'])
  })

  test('is not continued after an update that fails finally, until that is replayed', async () => {
    const id = await begin({ input: { fails: true } })
    const failed = async () => (await updatesOf(id)).filter(({ status }) => status === 'failed')
    await expect.poll(failed, { timeout: 40_000 }).toHaveLength(1)
    const [begun] = await failed()
    await look(platform.context)
    expect(await updateTypes(id)).toEqual(['workflow_started', 'workflow_continued'])
    await platform.context.db('events').where({ id: begun!.id }).update({ status: 'processed' })
    await expect.poll(() => updateTypes(id), { timeout: 20_000 }).toHaveLength(3)
  })

  test('is looked at in longer and longer intervals while the event lasts', async () => {
    const { db } = platform.context
    const event = { type: 'later', payload: {}, schedule: { delay: 3_600_000 } }
    const { body } = await platform.ask('POST', '/v1/chat/events', event, asBot)
    const id = await begin({ status: 'in_progress', eventId: body.event.id })
    await db('workflows')
      .where({ id })
      .update({ created_at: db.raw(`now() - interval '1 hour'`), continues_at: db.fn.now() })
    await look(platform.context)
    const row = await db('workflows').where({ id }).first()
    expect(row!.continues_at!.getTime() - Date.now()).toBeGreaterThan(150_000)
    expect(await updateTypes(id)).toEqual([])
  })
})

describe('a workflow that listens', () => {
  /** Its child ends before it listens, where it is told so. */
  const code = `
    export const hooks = {
      async afterIncomingEvent({ event, client }) {
        const { type, workflow } = event.payload
        const id = workflow?.id
        const isTold = async () => (await client.getWorkflow({ id: event.payload.id })).workflow.tags.go === 'yes'
        if (event.type === 'slow') while (!(await isTold())) await new Promise((resolve) => setTimeout(resolve, 50))
        if (type === 'workflow_started' && workflow.name === 'parent') {
          await client.updateWorkflow({ id, status: 'in_progress', eventId: event.id })
          const child = await client.createWorkflow({ name: 'child', status: 'listening', parentWorkflowId: id })
          if (workflow.input.endsFirst) await client.updateWorkflow({ id: child.workflow.id, status: 'completed' })
          if (workflow.input.sleeps) {
            await client.createEvent({ type: 'wake', payload: {}, workflowId: id, schedule: { delay: 1000 } })
          }
          await client.updateWorkflow({ id, status: 'listening', output: { child: child.workflow.id } })
        } else if (type === 'workflow_continued') {
          await client.updateWorkflow({ id, status: 'in_progress', eventId: event.id })
          const turns = (workflow.output.turns ?? 0) + 1
          await client.updateWorkflow({ id, output: { turns }, status: turns === workflow.input.turns ? 'completed' : 'listening' })
        }
      },
    }`
  let asBot: Record<string, string>
  beforeAll(async () => {
    asBot = { 'x-bot-id': (await platform.createBot(code)).id }
  })
  const begin = async (input: object = {}): Promise<string> => {
    const given = { name: 'parent', status: 'pending', input: { turns: 1, ...input } }
    return (await platform.ask('POST', '/v1/chat/workflows', given, asBot)).body.workflow.id
  }
  const get = async (id: string) =>
    (await platform.ask('GET', `/v1/chat/workflows/${id}`, undefined, asBot)).body.workflow
  const listening = async (id: string) => {
    await expect
      .poll(() => get(id), { timeout: 20_000 })
      .toMatchObject({ status: 'listening', output: { child: expect.any(String) } })
    return (await get(id)).output.child as string
  }
  const completes = async (id: string) => {
    await expect.poll(async () => (await get(id)).status, { timeout: 20_000 }).toBe('completed')
  }
  const ends = (id: string) => platform.ask('PUT', `/v1/chat/workflows/${id}`, { status: 'completed' }, asBot)
  const tell = (id: string) =>
    platform.ask('POST', '/v1/chat/events', { type: 'paid', payload: {}, workflowId: id }, asBot)

  test('is continued by each event that names it, and by nothing else', async () => {
    const id = await begin({ turns: 2 })
    await listening(id)
    await look(platform.context)
    expect(await updateTypes(id)).toEqual(['workflow_started'])
    expect(await tell(id)).toMatchObject({ status: 201 })
    await expect.poll(async () => (await get(id)).output.turns, { timeout: 20_000 }).toBe(1)
    await expect.poll(async () => (await get(id)).status).toBe('listening')
    await tell(id)
    await completes(id)
    expect(await updateTypes(id)).toEqual(['workflow_started', 'workflow_continued', 'workflow_continued'])
  })

  test('is continued by an event whose handling takes longer than that of another one, which continues it before', async () => {
    const id = await begin({ turns: 2 })
    await listening(id)
    const slow = { type: 'slow', payload: { id }, workflowId: id }
    expect(await platform.ask('POST', '/v1/chat/events', slow, asBot)).toMatchObject({ status: 201 })
    await tell(id)
    await expect.poll(async () => (await get(id)).output.turns, { timeout: 20_000 }).toBe(1)
    await expect.poll(async () => (await get(id)).status).toBe('listening')
    await platform.ask('PUT', `/v1/chat/workflows/${id}`, { tags: { go: 'yes' } }, asBot)
    await completes(id)
    expect(await updateTypes(id)).toEqual(['workflow_started', 'workflow_continued', 'workflow_continued'])
  })

  test('is continued by an event at the time for which it is scheduled', async () => {
    const id = await begin({ sleeps: true })
    await completes(id)
    const events = await platform.context.db('events').where({ workflow_id: id }).orderBy('created_at')
    expect(events.map(({ type }) => type)).toEqual(['workflow_update', 'wake', 'workflow_update'])
  })

  test('is continued by the end of its child', async () => {
    const id = await begin()
    await ends(await listening(id))
    await completes(id)
    expect(await updateTypes(id)).toEqual(['workflow_started', 'child_workflow_finished', 'workflow_continued'])
  })

  test('is continued by an event that came before it listened', async () => {
    const id = await begin({ endsFirst: true })
    await completes(id)
    expect(await updateTypes(id)).toEqual(['workflow_started', 'child_workflow_finished', 'workflow_continued'])
  })

  test('is continued only after the event and its own last update have been handled, and once', async () => {
    const { db } = platform.context
    const { id: botId } = await platform.createBot()
    const own = { 'x-bot-id': botId }
    const { body } = await platform.ask('POST', '/v1/chat/workflows', { name: 'parent', status: 'listening' }, own)
    const id = body.workflow.id as string
    const unhandled = async () => {
      const event = { type: 'later', payload: {}, workflowId: id, schedule: { delay: 3_600_000 } }
      return (await platform.ask('POST', '/v1/chat/events', event, own)).body.event.id as string
    }
    const hears = async () => {
      const eventId = await unhandled()
      await noteHeardEvent(db, { botId, id, eventId })
      return () => db('events').where({ id: eventId }).update({ status: 'processed', ended_at: db.fn.now() })
    }
    const lookNow = async () => {
      await db('workflows').where({ id }).update({ continues_at: db.fn.now() })
      await look(platform.context)
    }
    const handle = await hears()
    await db('workflows')
      .where({ id })
      .update({ event_id: await unhandled() })
    await lookNow()
    await handle()
    await lookNow()
    expect(await updateTypes(id)).toEqual([])
    await db('workflows').where({ id }).update({ event_id: null })
    await lookNow()
    await lookNow()
    expect(await updateTypes(id)).toEqual(['workflow_continued'])
  })
})

test('a workflow is found by its tags among many of its name, which are not read', async () => {
  const { id: botId } = await platform.createBot()
  const transaction = await platform.context.db.transaction()
  try {
    await transaction.raw(
      `insert into workflows (id, bot_id, name, status, tags, timeout_at, created_at)
       select 'workflow_' || n, ?, 'order', 'completed', jsonb_build_object('kind', 'food', 'number', n::text), now(),
         now() - n * interval '1 second'
       from generate_series(1, 3000) n`,
      [botId],
    )
    await transaction.raw('analyze workflows')
    const read = async () => {
      const { rows } = await transaction.raw<{ rows: { read: number }[] }>(
        `select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables where relname = 'workflows'`,
      )
      return rows[0]!.read
    }
    const before = await read()
    const of = { botId, name: 'order' }
    const find = async (tags: Record<string, string>, byTags?: string[]) =>
      (await matchWorkflow(transaction, { ...of, tags, byTags }))?.id
    expect(await find({ number: '2999' }, ['number'])).toBe('workflow_2999')
    expect(await find({ kind: 'food', number: '2998' })).toBe('workflow_2998')
    expect(await find({ number: '2999' })).toBeUndefined()
    expect(await find({ number: 'none' }, ['number'])).toBeUndefined()
    expect(await find({ kind: 'food' }, ['kind'])).toBe('workflow_1')
    const { rows } = await pageOfWorkflows(transaction, botId, { tags: { number: '2997' } }, { limit: 20 })
    expect(rows.map(({ id }) => id)).toEqual(['workflow_2997'])
    expect((await read()) - before).toBeLessThan(2000)
  } finally {
    await transaction.rollback()
  }
})
