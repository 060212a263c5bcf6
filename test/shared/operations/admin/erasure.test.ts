import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newId } from '#shared/ids.ts'
import { encryptJson } from '#shared/secrets.ts'
import { insertMember } from '#shared/store/accounts.ts'
import { StaleRequestError } from '#shared/store/data-requests.ts'
import { insertEvent } from '#shared/store/events.ts'
import { nextStep } from '../../../../worker/erasure/stages.ts'
import { createChatUser, type ChatUser } from '../../../support/chat-client.ts'
import { createMember } from '../../../support/members.ts'
import { installCode } from '../../../support/install-code.ts'
import { startEndpoint, type ScriptedEndpoint } from '../../../support/models.ts'
import { openPlatform, type Answer, type Platform } from '../../../support/platform.ts'
import { startS3, type S3Server } from '../../../support/s3.ts'

let platform: Platform
let endpoint: ScriptedEndpoint
let s3: S3Server
beforeAll(async () => {
  ;[endpoint, s3] = await Promise.all([startEndpoint(), startS3()])
  platform = await openPlatform({ environment: { ...endpoint.environment, ...s3.environment } })
})
afterAll(async () => {
  await platform[Symbol.asyncDispose]()
  await endpoint[Symbol.asyncDispose]()
  await s3[Symbol.asyncDispose]()
})

const patience = { timeout: 90_000, interval: 100 }

/** Writes what it hears everywhere that code can write to, and then fails if it is told to. */
const scribe = `
  export const hooks = {
    async afterIncomingMessage({ event, client, state, logger }) {
      const { conversationId, userId, payload: { text } } = event
      if (text === 'wait') {
        await client.createMessage({ conversationId, type: 'text', payload: { text: 'waiting' } })
        await new Promise((resolve) => setTimeout(resolve, 4000))
        logger.info('late ' + userId)
        state.bot.late = userId
        return client.createMessage({ conversationId, type: 'text', payload: { text: 'late' } })
      }
      const { output } = await client.generateText({ messages: [{ role: 'user', content: text }] })
      await client.createMessage({ conversationId, type: 'text', payload: { text: 'You are ' + text }, tags: { said: text } })
      await client.updateConversation({ id: conversationId, tags: { topic: text } })
      await client.updateUser({ id: userId, tags: { contact: text } })
      await client.setState({ type: 'conversation', id: conversationId, name: 'notes', payload: { text } })
      await client.setState({ type: 'user', id: userId, name: 'notes', payload: { text } })
      await client.setState({ type: 'bot', id: event.botId, name: 'last', payload: { text, output } })
      await client.createWorkflow({ name: 'greet', status: 'pending', input: { text }, conversationId, userId })
      await client.createTableRows({ table: 'peopleTable', rows: [{ text }, { text: 'nobody' }] })
      await client.trackAnalytics({ name: 'seen ' + text, count: 1 })
      logger.info('heard ' + text)
      state.user.heard = text
      state.conversation.heard = text
      if (text.startsWith('fail ')) throw new Error('no ' + text)
    },
  }
  export const actions = { echo: ({ input }) => input }`

const flows = [
  {
    id: 'main',
    start: 'first',
    nodes: [
      {
        id: 'first',
        cards: [
          { id: 'ask', type: 'capture', message: 'Who?', variable: 'workflow.who' },
          { id: 'again', type: 'capture', message: 'Again {{workflow.who}}?', variable: 'workflow.again' },
        ],
      },
    ],
  },
]

function newMarker(): string {
  return `ada.${randomBytes(8).toString('hex')}@example.org`
}

/** Rows of all tables of the database that contain a text, by table; the names of the tables are those of the catalogue. */
async function rowsWith(text: string): Promise<string[]> {
  const { db } = platform.context
  const { rows: tables } = await db.raw<{ rows: { name: string }[] }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
  )
  expect(tables.length).toBeGreaterThan(50)
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await db.raw<{ rows: { row: string }[] }>(
      `select t::text as row from ${name} t
       where strpos(lower(t::text), lower(?)) > 0 or strpos(t::text, encode(convert_to(?, 'UTF8'), 'hex')) > 0`,
      [text, text],
    )
    found.push(...rows.map(({ row }) => `${name}: ${row}`))
  }
  return found
}

async function tablesWith(text: string): Promise<string[]> {
  return [...new Set((await rowsWith(text)).map((row) => row.split(':')[0]!.replace('public.', '')))]
}

async function asBot(botId: string, method: string, path: string, body?: unknown, headers = {}): Promise<Answer> {
  const answer = await platform.ask(method, path, body, { 'x-bot-id': botId, ...headers })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer
}

/** Makes an admin's request, which must succeed. */
async function ask(method: string, path: string, body?: unknown) {
  const answer = await platform.ask(method, `/v1/admin${path}`, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  // oxlint-disable-next-line typescript/no-unsafe-return -- Answers are read field by field.
  return answer.body
}

/** Waits for the end of a data request. */
async function completed(id: string) {
  const find = async () => (await ask('GET', `/data-requests/${id}`)).dataRequest
  await expect.poll(async () => (await find()).status, patience).toBe('completed')
  // oxlint-disable-next-line typescript/no-unsafe-return -- Answers are read field by field.
  return find()
}

async function findingsOf(id: string): Promise<{ kind: string; address: Record<string, unknown> }[]> {
  return (await ask('GET', `/data-requests/${id}/findings?pageSize=100`)).findings
}

/** Uploads a file with this content. */
async function upload(botId: string, file: object, content: string, headers = {}): Promise<string> {
  const given = { size: content.length, contentType: 'text/plain', ...file }
  const { body } = await asBot(botId, 'PUT', '/v1/files', given, headers)
  const sent = await fetch(body.file.uploadUrl, { method: 'PUT', body: content })
  expect(sent.status).toBe(200)
  return body.file.id
}

/** Waits until no event of a bot waits or runs. */
async function settled(botId: string): Promise<void> {
  const { db } = platform.context
  const pending = async () => (await db('events').where({ bot_id: botId, status: 'pending' })).length
  await expect.poll(pending, patience).toBe(0)
}

interface Person extends ChatUser {
  conversationId: string
}

async function meet(chatUrl: string, user: object): Promise<Person> {
  const person = await createChatUser(chatUrl, user)
  return Object.assign(person, { conversationId: await person.createConversation() })
}

test(
  'a marker written through every way in is nowhere afterwards, in no table and in no bucket, or is in the list',
  { timeout: 240_000 },
  async () => {
    const marker = newMarker()
    const bot = await platform.createBot(scribe, { keepPrompts: true })
    await asBot(bot.id, 'POST', '/v1/tables', {
      name: 'peopleTable',
      schema: { type: 'object', properties: { text: { type: 'string' } } },
    })
    // Another person with a similar address.
    const similar = `not-${marker}.au`
    const bob = await meet(bot.chatUrl, { name: 'Bob' })
    await bob.send(bob.conversationId, similar)
    await settled(bot.id)
    const ada = await meet(bot.chatUrl, {
      name: marker,
      profile: `mail ${marker}`,
      pictureUrl: `https://x.test/${marker}`,
    })
    // Messages, events and what the code makes of them; a failed event; an answer with an idempotency key.
    await ada.send(ada.conversationId, marker)
    await ada.send(ada.conversationId, `fail ${marker}`)
    await ada.ask('POST', '/events', { conversationId: ada.conversationId, payload: { type: 'custom', mail: marker } })
    await settled(bot.id)
    const keyed = {
      conversationId: ada.conversationId,
      userId: ada.userId,
      type: 'text',
      payload: { text: marker },
      tags: {},
    }
    const once = () => asBot(bot.id, 'POST', '/v1/chat/messages', keyed, { 'idempotency-key': 'once' })
    const first = await once()
    // A file of the user, and one of the bot, with passages.
    const mail = `Write to ${marker}.`
    await upload(bot.id, { key: `of/${marker}`, index: true, tags: { mail: marker } }, mail, {
      'x-user-id': ada.userId,
    })
    const indexed = await upload(bot.id, { key: 'list.txt', index: true }, mail)
    await expect
      .poll(async () => (await asBot(bot.id, 'GET', `/v1/files/${indexed}`)).body.file.status, patience)
      .toBe('indexing_completed')
    // A webhook request, a scheduled event, a bot's event without a conversation.
    const tool = await installCode(
      platform,
      bot.id,
      'export function handler({ request, logger }) { logger.info(request.body) }',
    )
    await fetch(tool.webhookUrl, { method: 'POST', body: JSON.stringify({ text: `Line\n${marker.toUpperCase()}` }) })
    // A request that is handled until the erasure has begun.
    const slow = await installCode(
      platform,
      bot.id,
      'export const handler = () => new Promise((resolve) => setTimeout(() => resolve({ status: 200 }), 6000))',
      { alias: 'slow' },
    )
    // An event that recurs, and a participant whose id of the client is the address.
    await ask('PUT', `/bots/${bot.id}`, {
      recurringEvents: { yearly: { type: 'yearly', payload: { to: marker }, schedule: { cron: '0 0 1 1 *' } } },
    })
    const named = await createChatUser(bot.chatUrl)
    await platform.context.db('users').where({ id: named.userId }).update({ foreign_id: marker })
    await asBot(bot.id, 'POST', `/v1/chat/conversations/${bob.conversationId}/participants`, { userId: named.userId })
    await asBot(bot.id, 'POST', '/v1/chat/events', {
      type: 'reminder',
      payload: { to: `mailto:${marker}` },
      schedule: { delay: 3_600_000 },
    })
    // People answer, with a note.
    await ask('POST', `/bots/${bot.id}/conversations/${ada.conversationId}/handover`, {})
    const { handovers } = await ask('GET', `/bots/${bot.id}/handovers`)
    await ask('POST', `/bots/${bot.id}/handovers/${handovers[0].id}/notes`, { text: `Call ${marker}` })
    // A flow that waits for an answer.
    const asking = await platform.createBot(undefined, { flows })
    const twin = await meet(asking.chatUrl, { name: marker })
    await twin.send(twin.conversationId, 'hi')
    await twin.send(twin.conversationId, marker)
    await settled(asking.id)
    // A message of the bot to the other person, about this one.
    await asBot(bot.id, 'POST', '/v1/chat/messages', {
      ...keyed,
      conversationId: bob.conversationId,
      userId: bot.id,
      payload: { text: `Do you know <${marker}>?` },
    })
    await settled(bot.id)
    const slowly = fetch(slow.webhookUrl, { method: 'POST', body: marker })
    let written: string[] = []
    // Reading all tables may take seconds, and the request only six: the tables are read once while it is handled.
    await expect.poll(async () => (written = await tablesWith(marker)), patience).toContain('webhook_bodies')
    // The answer that is kept for the key is encrypted with it.
    expect(written).not.toContain('idempotency_keys')
    expect((await once()).body).toEqual(first.body)
    expect(JSON.stringify(first.body)).toContain(marker)
    expect(written).toEqual(
      expect.arrayContaining(
        [
          'users',
          'conversations',
          'messages',
          'events',
          'effects',
          'states',
          'workflows',
          'logs',
          'table_rows',
          'files',
        ].concat(
          ['passages', 'handover_notes', 'analytics'],
          ['webhook_bodies', 'model_contents', 'recurring_events', 'conversation_signals'],
        ),
      ),
    )
    expect(await s3.keys()).toHaveLength(2)

    const { dataRequest } = await ask('POST', '/users/erase', { emails: [` ${marker.toUpperCase()}`] })
    expect(dataRequest).toMatchObject({ status: 'pending', userIds: [], findings: 0 })
    const done = await completed(dataRequest.id)
    await slowly
    expect(done.userIds).toHaveLength(3)
    expect(done.erased).toMatchObject({ user: 3, conversation: 2, file: 1 })
    const findings = await findingsOf(dataRequest.id)
    expect(JSON.stringify(findings)).not.toContain(marker)
    const kinds = findings.map(({ kind }) => kind).toSorted()
    expect([...new Set(kinds)]).toEqual(['event', 'file', 'log', 'message', 'recurringEvent', 'state', 'tableRow'])
    // All that is left is the similar address, and what the list has.
    const left = (await rowsWith(marker)).filter((row) => row.toLowerCase().replaceAll(similar, '').includes(marker))
    const listed: Record<string, string> = { event: 'events', file: 'files', log: 'logs', message: 'messages' }
    const others: Record<string, string> = {
      state: 'states',
      tableRow: 'table_rows',
      recurringEvent: 'recurring_events',
    }
    const tables = findings.map(({ kind }) => listed[kind] ?? others[kind])
    const passages = ['effects', 'passages']
    for (const row of left) expect([...tables, ...passages]).toContain(row.split(':')[0]!.replace('public.', ''))
    expect(await s3.keys()).toHaveLength(1)

    await ask('POST', `/data-requests/${dataRequest.id}/findings/erase`, {})
    expect(await completed(dataRequest.id)).toMatchObject({ findings: 0, erased: { tableRow: expect.any(Number) } })
    expect(
      (await rowsWith(marker)).filter((row) => row.toLowerCase().replaceAll(similar, '').includes(marker)),
    ).toEqual([])
    expect(await s3.keys()).toEqual([])
    expect((await rowsWith(similar)).length).toBeGreaterThan(5)
    // The other rows of the table, and the other person with the conversation.
    const { body } = await asBot(bot.id, 'POST', '/v1/tables/peopleTable/rows/find', {})
    const texts: string[] = body.rows.map(({ text }: { text: string }) => text)
    expect(new Set(texts)).toEqual(new Set(['nobody', similar]))
    expect((await bob.messages(bob.conversationId)).map(({ text }) => text)).toEqual([similar, `You are ${similar}`])
  },
)

test('a file whose headings name a person is found', { timeout: 120_000 }, async () => {
  const marker = newMarker()
  const bot = await platform.createBot()
  const content = `# People\n\n## ${marker}\n\nOwes thirty euros since summer.\n`
  const fileId = await upload(bot.id, { key: 'people.md', index: true, contentType: 'text/markdown' }, content)
  await expect
    .poll(async () => (await asBot(bot.id, 'GET', `/v1/files/${fileId}`)).body.file.status, patience)
    .toBe('indexing_completed')
  const { dataRequest } = await ask('POST', '/users/erase', { botId: bot.id, emails: [marker] })
  await completed(dataRequest.id)
  expect(await findingsOf(dataRequest.id)).toMatchObject([{ kind: 'file', address: { fileId } }])
})

test(
  'rows of a bot that has moved to another workspace are no findings of its former one',
  { timeout: 120_000 },
  async () => {
    const { db } = platform.context
    const marker = newMarker()
    const bot = await platform.createBot()
    const bob = await meet(bot.chatUrl, { name: 'Bob' })
    await bob.send(bob.conversationId, `about ${marker}`)
    await settled(bot.id)
    const { dataRequest } = await ask('POST', '/users/erase', { emails: [marker] })
    expect((await completed(dataRequest.id)).findings).toBeGreaterThan(0)
    expect((await findingsOf(dataRequest.id)).map(({ kind }) => kind)).toContain('message')

    const { 'x-workspace-id': targetWorkspaceId } = await createMember(platform, 'owner')
    const { account } = await ask('GET', '/account/me')
    await insertMember(db, { workspaceId: targetWorkspaceId, accountId: account.id, role: 'administrator' })
    await ask('POST', `/bots/${bot.id}/transfer`, { targetWorkspaceId })
    expect(await findingsOf(dataRequest.id)).toEqual([])
    expect((await ask('GET', `/data-requests/${dataRequest.id}`)).dataRequest).toMatchObject({ findings: 0 })
    await ask('POST', `/data-requests/${dataRequest.id}/findings/erase`, {})
    await completed(dataRequest.id)
    expect((await bob.messages(bob.conversationId)).map(({ text }) => text)).toContain(`about ${marker}`)
  },
)

test('an export has all rows of a person on lines, and those that name the person as findings, for administrators alone', async () => {
  const marker = newMarker()
  const bot = await platform.createBot()
  const ada = await meet(bot.chatUrl, { name: 'Ada' })
  const bob = await meet(bot.chatUrl, { name: 'Bob' })
  await asBot(bot.id, 'PUT', `/v1/chat/users/${ada.userId}`, { tags: { mail: marker.toUpperCase() } })
  await ada.send(ada.conversationId, 'of Ada')
  await bob.send(bob.conversationId, `about ${marker}`)
  await bob.send(bob.conversationId, 'of Bob')
  const file = await upload(bot.id, { key: 'a.txt' }, 'content', { 'x-user-id': ada.userId })
  const developer = await createMember(platform, 'developer', platform.workspaceId)
  expect((await platform.ask('POST', '/v1/admin/users/export', { emails: [marker] }, developer)).status).toBe(403)
  expect((await platform.ask('POST', '/v1/admin/users/export', {})).status).toBe(400)
  const response = await fetch(`${platform.url}/v1/admin/users/export`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${platform.token}`,
      'x-workspace-id': platform.workspaceId,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ botId: bot.id, emails: [marker] }),
  })
  const lines = (await response.text()).trim().split('\n')
  const rows = lines.map((line): { kind: string; isFinding?: true; contentUrl?: string; data: object } =>
    JSON.parse(line),
  )
  const end = rows.pop()
  expect(end).toEqual({ kind: 'end', rows: rows.length })
  const messages = rows.filter(({ kind }) => kind === 'message')
  expect(messages.map(({ isFinding, data }) => [isFinding, (data as { payload: object }).payload])).toEqual([
    [undefined, { text: 'of Ada' }],
    [true, { text: `about ${marker}` }],
  ])
  const found = rows.find(({ kind }) => kind === 'file')!
  expect(found.data).toMatchObject({ id: file, key: 'a.txt' })
  expect(await (await fetch(found.contentUrl!)).text()).toBe('content')
  expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(['user', 'conversation', 'message', 'event', 'file']))
  const { records } = await ask('GET', `/workspaces/${platform.workspaceId}/audit-records`)
  expect(JSON.stringify(records)).toContain('exportUser')
  expect(JSON.stringify(records)).not.toContain(marker)
})

test('a run that is in flight during an erasure writes nothing afterwards, and its events and messages are gone', async () => {
  const bot = await platform.createBot(scribe)
  const ada = await meet(bot.chatUrl, {})
  const other = await createChatUser(bot.chatUrl)
  await ada.ask('POST', `/conversations/${ada.conversationId}/participants`, { userId: other.userId })
  await other.send(ada.conversationId, 'of the other one')
  await ada.send(ada.conversationId, 'wait')
  const { db } = platform.context
  await expect
    .poll(async () => (await db('messages').where({ bot_id: bot.id })).map(({ payload }) => payload['text']), patience)
    .toContain('waiting')
  const id = ada.userId
  const { dataRequest } = await ask('POST', '/users/erase', { botId: bot.id, userId: id, eraseFindings: true })
  const done = await completed(dataRequest.id)
  expect(done).toMatchObject({ userIds: [id], findings: 0 })
  await expect
    .poll(async () => (await db('events').where({ bot_id: bot.id, status: 'pending' })).length, patience)
    .toBe(0)
  // Only the request itself and the audit record name the id, which is no content.
  expect(await tablesWith(id)).toEqual(['audit_records', 'data_request_ids'])
  const left = await db('messages').where({ bot_id: bot.id, direction: 'incoming' })
  expect(left.map(({ payload }) => payload['text'])).toEqual(['of the other one'])
})

test('a conversation of others whose messages are counted has the number of those that are left', async () => {
  const bot = await platform.createBot()
  const bob = await meet(bot.chatUrl, { name: 'Bob' })
  const ada = await createChatUser(bot.chatUrl, { name: 'Ada' })
  const { conversationId: id } = bob
  await bob.ask('POST', `/conversations/${id}/participants`, { userId: ada.userId })
  await ada.send(id, 'of Ada')
  await bob.send(id, 'of Bob')
  const { db } = platform.context
  await db.raw(
    `insert into messages (id, bot_id, conversation_id, user_id, type, direction, payload, created_at, updated_at)
     select 'msg_' || number || :id, :bot, :id, case when number % 3 = 0 then :ada else :bob end, 'text', 'incoming',
       '{"text":"more"}', at, at
     from generate_series(1, 1500) number, lateral (select now() - number * interval '1 hour' as at) time`,
    { id, bot: bot.id, ada: ada.userId, bob: bob.userId },
  )
  const numberOf = async () => {
    const { body } = await asBot(bot.id, 'GET', `/v1/chat/conversations/${id}`)
    return [
      body.conversation.messageCount,
      (await db('message_counts').where({ conversation_id: id }).first())?.counted,
    ]
  }
  expect(await numberOf()).toEqual([1502, 1500])
  const { dataRequest } = await ask('POST', '/users/erase', { botId: bot.id, userId: ada.userId, eraseFindings: true })
  expect(await completed(dataRequest.id)).toMatchObject({ erased: { user: 1, message: 501 } })
  expect(await numberOf()).toEqual([1001, 1000])
})

test('another worker completes the erasure of a worker that died, which writes nothing more', async () => {
  const bot = await platform.createBot()
  const ada = await meet(bot.chatUrl, { name: 'Ada' })
  await ada.send(ada.conversationId, 'of Ada')
  const { db, config } = platform.context
  const id = newId('datareq')
  const subject = { userIds: [ada.userId] }
  // Claimed by the test, whose lease is over when it says so.
  await db('data_requests').insert({
    id,
    workspace_id: platform.workspaceId,
    bot_id: bot.id,
    erases_findings: false,
    subject: await encryptJson(config.secret, id, subject),
    status: 'in_progress',
    run: 1,
    due_at: db.raw(`now() + interval '1 hour'`),
  })
  const dead = await db('data_requests').where({ id }).first()
  const step = (request: typeof dead) => nextStep({ context: platform.context, request: request!, subject })
  let request = dead
  while (request!.erased['user'] !== 1) request = await step(request)
  expect(await db('messages').where({ conversation_id: ada.conversationId })).toHaveLength(1)
  await db('data_requests')
    .where({ id })
    .update({ due_at: db.raw('now()') })
  expect(await completed(id)).toMatchObject({ userIds: [ada.userId], erased: { user: 1, message: 1, conversation: 1 } })
  expect(await db('messages').where({ conversation_id: ada.conversationId })).toEqual([])
  await expect(step(request)).rejects.toThrow(StaleRequestError)
})

test('an erasure waits for the runs in flight, also where the clock of its worker is behind that of the database', async () => {
  const bot = await platform.createBot()
  const { db, config } = platform.context
  const event = await insertEvent(db, { id: newId('evt'), botId: bot.id, type: 'custom', payload: {} })
  await db('events')
    .where({ id: event.id })
    .update({ started_at: db.raw('clock_timestamp()'), attempt: 1 })
  const id = newId('datareq')
  const subject = { userIds: [newId('user')] }
  await db('data_requests').insert({
    id,
    workspace_id: platform.workspaceId,
    bot_id: bot.id,
    erases_findings: false,
    subject: await encryptJson(config.secret, id, subject),
    status: 'in_progress',
    run: 1,
    stage: 'conversations',
    due_at: db.raw(`now() + interval '1 hour'`),
  })
  const request = (await db('data_requests').where({ id }).first())!
  const step = (from: typeof request) => nextStep({ context: platform.context, request: from, subject })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 60_000 })
  const waiting = await step(request).finally(() => vi.useRealTimers())
  expect(await step(waiting)).toMatchObject({ stage: 'runs' })
  await db('events').where({ id: event.id }).delete()
  expect(await step(waiting)).toMatchObject({ stage: 'search' })
})

test('an erasure that is not the caller’s, or that names nobody, is refused', async () => {
  const { dataRequest } = await ask('POST', '/users/erase', { texts: [newMarker()] })
  const other = await createMember(platform, 'administrator')
  for (const path of ['', '/findings']) {
    expect(
      (await platform.ask('GET', `/v1/admin/data-requests/${dataRequest.id}${path}`, undefined, other)).status,
    ).toBe(404)
  }
  expect((await platform.ask('GET', '/v1/admin/data-requests/datareq_none')).status).toBe(404)
  const bodies = [{}, { emails: ['nobody'] }, { phones: ['12'] }, { externalId: 'x' }, { userId: 'ada@example.org' }]
  for (const body of bodies) expect((await platform.ask('POST', '/v1/admin/users/erase', body)).status).toBe(400)
  expect((await platform.ask('POST', '/v1/admin/users/erase', { botId: 'bot_none', emails: ['a@b.c'] })).status).toBe(
    404,
  )
})
