import { encodeTime } from 'ulid'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { newId } from '#shared/ids.ts'
import { deleteUnusedBundles, touchBundle } from '#shared/store/bundles.ts'
import { alone } from '#shared/store/retention.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'
import { openRetention } from '../../../worker/periodic/retention.ts'

let platform: Platform
let bot: DeployedBot
beforeAll(async () => {
  platform = await openPlatform({ environment: { RETENTION_VERSIONS: '3' } })
  bot = await platform.createBot(talker)
})
afterAll(() => platform[Symbol.asyncDispose]())
afterEach(async () => {
  const { db } = platform.context
  await db('logs').delete()
  await db('effects').delete()
})

const talker = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'yes' } })
    },
  }`

const db = () => platform.context.db
const count = async (table: 'logs' | 'effects' | 'bot_versions', where = {}) =>
  Number((await db()(table).where(where).count())[0]!.count)

/** Passes until no kind has more. */
async function sweep(rows: number): Promise<number> {
  const retention = openRetention(platform.context, rows)
  let passes = 1
  while (await retention.pass()) passes++
  return passes
}

describe('logs', () => {
  test('are deleted after 30 days, a bounded number at a time', async () => {
    await insert(10_000, '31 days')
    await insert(10, '29 days')
    const retention = openRetention(platform.context, 3000)
    expect(await retention.pass()).toBe(true)
    expect(await count('logs')).toBe(7010)
    expect(await sweep(3000)).toBe(3)
    expect(await count('logs')).toBe(10)
  })

  test('are left to the worker that is at it', async () => {
    await insert(10, '31 days')
    await alone(db(), 'retention of logs', () => sweep(1000))
    expect(await count('logs')).toBe(10)
    await sweep(1000)
    expect(await count('logs')).toBe(0)
  })
})

describe('journals', () => {
  test('go a day after their events were handled; those of failures stay as long as they can be replayed', async () => {
    const [old, fresh] = [await events(3000, '25 hours', 'processed'), await events(20, '23 hours', 'processed')]
    const [failed, longFailed] = [await events(20, '29 days', 'failed'), await events(20, '31 days', 'failed')]
    const unfinished = await events(20, '0 days', 'pending')
    expect(await sweep(500)).toBeGreaterThan(12)
    expect(await Promise.all([old, fresh, failed, longFailed, unfinished].map(kept))).toEqual([0, 40, 40, 0, 40])
  })

  test('of what is handled right now stay', async () => {
    const another = await platform.createBot(talker)
    const chatUser = await createChatUser(another.chatUrl)
    await chatUser.send(await chatUser.createConversation(), 'hello')
    await endedEvents(platform, another.id, 1)
    const entries = await count('effects')
    expect(entries).toBeGreaterThan(0)
    await sweep(500)
    expect(await count('effects')).toBe(entries)
  })
})

describe('versions', () => {
  test('are kept as many as are configured, beside the one in service', async () => {
    const another = await platform.createBot(talker)
    const ids = Array.from({ length: 12 }, (_, index) =>
      newId('botver').replace(/^botver_.{10}/, newIdAt(Date.now() - 3 * 24 * 3600 * 1000 + index, 'botver')),
    )
    await db().raw(
      `insert into bot_versions (id, bot_id, kind, hash, bundle_id, hooks, actions)
       select made.id, ?, kind, hash, bundle_id, hooks, actions
       from bot_versions, unnest(?::text[]) as made (id) where bot_versions.bot_id = ?`,
      [another.id, ids, another.id],
    )
    await db()('bots').where({ id: another.id }).update({ version_id: ids[4]! })
    await sweep(20)
    const left = await db()('bot_versions').where({ bot_id: another.id }).orderBy('id').select('id')
    // The three newest: the last two, and the one that was uploaded now.
    expect(left.map(({ id }) => id)).toEqual([ids[4], ids[10], ids[11], expect.any(String)])
    expect(await count('bot_versions', { bot_id: bot.id })).toBe(1)
  })
})

test('questions to language models are deleted 30 days after their events', async () => {
  const old = await events(20, '1 day', 'processed')
  const fresh = newId('evt')
  await db()('events').insert({ id: fresh, bot_id: bot.id, mailbox: fresh, type: 'x', payload: {}, status: 'failed' })
  await db().raw(
    `insert into model_contents (event_id, key, prompt, answer) select id, 'key', 'Why', 'Because' from unnest(?::text[]) id`,
    [[...old, fresh]],
  )
  expect(await openRetention(platform.context, 12).pass()).toBe(true)
  expect(await db()('model_contents').count()).toEqual([{ count: '9' }])
  await sweep(12)
  expect(await db()('model_contents').pluck('event_id')).toEqual([fresh])
})

const uploadBundle = async (name: string) => {
  const code = `export const hooks = { async afterIncomingMessage() { console.log('${name}') } }`
  const made = await platform.createBot(code)
  return { ...made, code, bundle: (await db()('bundles').where({ source: code }).first('id'))!.id }
}
const ageBundle = (id: string) =>
  db()('bundles')
    .where({ id })
    .update({ used_at: db().raw(`now() - interval '1 hour'`) })
const bundleExists = async (id: string) => (await db()('bundles').where({ id }).select('id')).length === 1

const countVersionsOf = async (botIds: string | string[], bundleId: string | null) =>
  Number(
    (await db()('bot_versions').whereIn('bot_id', [botIds].flat()).where({ bundle_id: bundleId }).count())[0]!.count,
  )

/** Waits until a statement of this database waits for a lock. */
async function untilWaiting(): Promise<void> {
  await expect
    .poll(async () => {
      const sql = `select count(*)::integer as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      return (await db().raw(sql)).rows[0].waiting
    })
    .toBeGreaterThan(0)
}

describe('bundles', () => {
  test('go when neither a version nor an integration has them, some minutes after their last upload', async () => {
    const [kept, gone, fresh] = [await uploadBundle('kept'), await uploadBundle('gone'), await uploadBundle('fresh')]
    const integration = { name: 'holder', version: '1.0.0', code: kept.code }
    expect(await platform.ask('POST', '/v1/admin/integrations', integration)).toMatchObject({ status: 200 })
    for (const { id } of [kept, gone, fresh]) await platform.ask('DELETE', `/v1/admin/bots/${id}`)
    await Promise.all([ageBundle(kept.bundle), ageBundle(gone.bundle)])
    await sweep(500)
    expect(await Promise.all([kept, gone, fresh].map(({ bundle }) => bundleExists(bundle)))).toEqual([
      true,
      false,
      true,
    ])
  })

  test('stay for an upload that touches them while they are deleted', async () => {
    const { id, code, bundle } = await uploadBundle('contested')
    await platform.ask('DELETE', `/v1/admin/bots/${id}`)
    await ageBundle(bundle)
    const transaction = await db().transaction()
    await touchBundle(transaction, bundle)
    const deletion = deleteUnusedBundles(db(), { from: undefined, limit: 1000 })
    await untilWaiting()
    await transaction.commit()
    await deletion
    expect(await bundleExists(bundle)).toBe(true)
    const again = await platform.createBot(code)
    expect(await countVersionsOf(again.id, bundle)).toBe(1)
  })

  test('are stored again by uploads during deletions, and nothing refers to one that is gone', async () => {
    const { id, code, bundle } = await uploadBundle('restless')
    const isOver = { value: false }
    const deletions = (async () => {
      while (!isOver.value) {
        await ageBundle(bundle)
        await sweep(500)
      }
    })()
    const uploads = Array.from({ length: 12 }, async () => {
      const made = await platform.createBot(code)
      await platform.ask('DELETE', `/v1/admin/bots/${made.id}`)
      return platform.createBot(code)
    })
    const bots = await Promise.all(uploads).finally(() => (isOver.value = true))
    await deletions
    expect(await countVersionsOf([id, ...bots.map((each) => each.id)], bundle)).toBe(13)
  })

  test('hold the code that earlier versions of the platform stored with each version, a few at a time', async () => {
    const { bundle } = await uploadBundle('first')
    const old = await Promise.all(Array.from({ length: 6 }, () => uploadBundle('moved')))
    await db().raw(
      `update bot_versions set source = bundles.source, script = coalesce(bundles.script, bundles.source),
         source_map = bundles.source_map, bundle_id = null
       from bundles where bundles.id = bundle_id and bot_id = any(?)`,
      [old.map(({ id }) => id)],
    )
    const versionsOf = (id: string) => platform.ask('GET', `/v1/admin/bots/${id}/versions`)
    const codeOf = async (id: string) => {
      const { versions } = (await versionsOf(id)).body
      return (await platform.ask('GET', `/v1/admin/bots/${id}/versions/${versions[0].id}`)).body.version.code
    }
    expect(await codeOf(old[0]!.id)).toBe(old[0]!.code)
    const retention = openRetention(platform.context, 2000, 0)
    await retention.pass()
    expect(
      await countVersionsOf(
        old.map(({ id }) => id),
        null,
      ),
    ).toBe(2)
    await retention.pass()
    const rows = await db()('bot_versions')
      .whereIn(
        'bot_id',
        old.map(({ id }) => id),
      )
      .select('bundle_id', 'script')
    expect(new Set(rows.map(({ bundle_id: id, script }) => `${id} ${script}`)).size).toBe(1)
    expect(rows[0]!.bundle_id).not.toBe(bundle)
    expect(await codeOf(old[5]!.id)).toBe(old[5]!.code)
    const chatUser = await createChatUser(old[3]!.chatUrl)
    await chatUser.send(await chatUser.createConversation(), 'hello')
    expect(await endedEvents(platform, old[3]!.id, 1)).toMatchObject([{ status: 'processed' }])
  })
})

const typesOfStates = (): Promise<string[]> => db()('states').orderBy('type').pluck('type')

describe('states without an owner', () => {
  const owners = { user: 'user_gone', conversation: 'conv_gone', workflow: 'workflow_gone' }
  const leave = (ofEach: number) =>
    db().raw(
      `insert into states (id, bot_id, type, owner_id, name, payload)
       select 'state_' || owner.value || number, ?, owner.key, owner.value, number, '{}'
       from jsonb_each_text(?) owner, generate_series(1, ?) number`,
      [bot.id, JSON.stringify(owners), ofEach],
    )
  afterEach(() => db()('states').delete())

  test('are deleted, a bounded number at a time, and those of others stay', async () => {
    const chatUser = await createChatUser(bot.chatUrl)
    const asBot = { 'x-bot-id': bot.id }
    const { body } = await platform.ask('POST', '/v1/chat/workflows', { name: 'w', status: 'listening' }, asBot)
    const ids = { user: chatUser.userId, conversation: await chatUser.createConversation(), workflow: body.workflow.id }
    for (const [type, id] of Object.entries({ ...ids, bot: bot.id })) {
      const stored = await platform.ask('POST', `/v1/chat/states/${type}/${id}/x`, { payload: {} }, asBot)
      expect(stored).toMatchObject({ status: 200 })
    }
    await leave(100)
    const retention = openRetention(platform.context, 200)
    expect(await retention.pass()).toBe(true)
    expect(await typesOfStates()).toHaveLength(304 - 196)
    expect(await retention.pass()).toBe(false)
    expect(await typesOfStates()).toEqual(['bot', 'conversation', 'user', 'workflow'])
  })

  test('are looked for once a day', async () => {
    const retention = openRetention(platform.context, 200)
    await retention.pass()
    await leave(1)
    await retention.pass()
    expect(await typesOfStates()).toHaveLength(3)
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 24 * 3600 * 1000)
    await retention.pass().finally(() => clock.mockRestore())
    expect(await typesOfStates()).toEqual([])
  })
})

test('counts of outcomes of events are deleted when they cannot be queried any more', async () => {
  const count = (seconds: number, age: string) =>
    db().raw(
      `insert into bot_activity (bot_id, seconds, at, processed, failed, ignored, retried, put_back, handling, waiting)
       select ?, ?, now() - ?::interval - n * interval '1 second', 1, 0, 0, 0, 0, '{}', '{}' from generate_series(1, 5) n`,
      [`bot_${age}`, seconds, age],
    )
  for (const age of ['1 hour', '3 hours', '7 days', '9 days'])
    for (const seconds of [60, 900]) await count(seconds, age)
  await sweep(4)
  const rows: { seconds: number; bot_id: string }[] = await db()('bot_activity').distinct('seconds', 'bot_id')
  // The platform's own bots are there too.
  const left = rows.filter(({ bot_id: botId }) => botId.includes(' ')).map((row) => `${row.seconds} ${row.bot_id}`)
  expect(left.toSorted()).toEqual(['60 bot_1 hour', '900 bot_1 hour', '900 bot_3 hours', '900 bot_7 days'])
})

describe('records of the audit log', () => {
  test('are deleted after a year, a bounded number at a time', async () => {
    await db()('audit_records').delete()
    await recordActions(30, '366 days')
    await recordActions(10, '364 days')
    const left = () => db()('audit_records').pluck('fields')
    expect(await openRetention(platform.context, 12).pass()).toBe(true)
    expect(await left()).toHaveLength(28)
    await sweep(12)
    expect(await left()).toEqual(Array.from({ length: 10 }, () => '364 days'))
  })
})

/** Records of as many actions, of one age. */
function recordActions(number: number, age: string) {
  const ids = Array.from({ length: number }, () => newId('audit'))
  return db().raw(
    `insert into audit_records (id, account_id, operation, fields, created_at)
     select id, 'account_1', 'updateBot', ?, now() - ?::interval from unnest(?::text[]) id`,
    [age, age, ids],
  )
}

/** The beginning of an id that was made at a time. */
function newIdAt(milliseconds: number, prefix = 'evt'): string {
  return `${prefix}_${encodeTime(milliseconds)}`
}

/** Events with two entries each, made so long ago as their ids and times say. */
async function events(number: number, age: string, status: string): Promise<string[]> {
  const madeAt = Date.now() - 60 * 24 * 3600 * 1000
  const ids = Array.from({ length: number }, (_, index) => newId('evt').replace(/^evt_.{10}/, newIdAt(madeAt + index)))
  await db().raw(
    `insert into events (id, bot_id, mailbox, type, payload, status, available_at, ended_at)
     select id, ?, id, 'x', '{}', ?, now() + interval '1 day',
       case when ? in ('pending', 'scheduled') then null else now() - ?::interval end
     from unnest(?::text[]) id`,
    [bot.id, status, status, age, ids],
  )
  await db().raw(
    `insert into effects (event_id, operation, ordinal, input_hash, result)
     select id, 'createMessage', n, '', '{}' from unnest(?::text[]) id, generate_series(0, 1) n`,
    [ids],
  )
  return ids
}
const kept = async (ids: string[]) => Number((await db()('effects').whereIn('event_id', ids).count())[0]!.count)

/** Lines of the bot's log, all of one age. */
function insert(lines: number, age: string) {
  return db().raw(
    `insert into logs (bot_id, level, message, created_at)
     select ?, 'info', 'line ' || n, now() - ?::interval from generate_series(1, ?) n`,
    [bot.id, age, lines],
  )
}
