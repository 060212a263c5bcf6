import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { openRuns, type Run, type Runs } from '../../../support/repeated-runs.ts'
import { installWebchat } from '../../../support/webchat.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())

type Body = Awaited<ReturnType<Run>>['body']

/** The calls of a run, each of which has to succeed, and the deletion of the rows that they make. */
class Calls {
  readonly runs: Runs
  readonly #run: Run
  readonly #as: Parameters<Run>[3]
  readonly #answers: string[] = []
  readonly #made: string[] = []

  constructor(runs: Runs, run: Run, as: Parameters<Run>[3] = {}) {
    this.runs = runs
    this.#run = run
    this.#as = as
  }

  async call(method: string, path: string, given?: object): Promise<Body> {
    const { status, body } = await this.#run(method, path, given, this.#as)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`)
    const answer = JSON.stringify(body)
    this.#answers.push(`${method} ${path}: ${JSON.stringify(comparable(`${method} ${path}`, JSON.parse(answer)))}`)
    return JSON.parse(answer)
  }

  /** Makes a row by a request to its path. @returns its id */
  async make(path: string, body: object = {}): Promise<string> {
    const answer = await this.call('POST', path, body)
    const { id } = Object.values<{ id?: string }>(answer).find((row) => row.id !== undefined) as { id: string }
    this.#made.unshift(`${path.replace('/get-or-create', '')}/${id}`)
    return id
  }

  user = () => this.make('users', { name: 'Ann' })
  conversation = () => this.make('conversations', { channel: 'channel' })
  message = (conversationId: string, given: object = {}) =>
    this.make('messages', { conversationId, type: 'text', payload: { text: 'thinking' }, ...given })
  workflow = (given: object = {}) => this.make('workflows', { name: 'order', status: 'pending', ...given })
  table = () => this.make('/v1/tables', { name: 'ordersTable', schema })

  /** Deletes the rows, the newest first. @returns the texts of all answers */
  async end(): Promise<string[]> {
    for (const path of this.#made) await this.call('DELETE', path)
    return this.#answers
  }
}

/** A message that is gone has the time of its id, and a file that is gone is made again. */
function comparable(call: string, body: Body): Body {
  if (call === 'PUT /v1/files') return body.file.id
  return call === 'POST messages' ? { message: { ...body.message, createdAt: '', updatedAt: '' } } : body
}

const schema = { type: 'object', properties: { name: { type: 'string' }, count: { type: 'number' } } }
const text = { type: 'text', payload: { text: 'thinking', z: 1, metadata: { b: 1, a: [1] } } }
const soon = { schedule: { delay: 60_000 } }
const startOf = (conversationId: string) => `conversations/${conversationId}/handover`

/** The calls of the bot's runs with rows that they have made, before they delete these. */
const ofBots: [string, (calls: Calls) => Promise<unknown>][] = [
  ['createMessage', async (calls) => calls.message(calls.runs.conversationId, { ...text, tags: { b: '1', a: '2' } })],
  ['createMessage in a conversation', async (calls) => calls.message(await calls.conversation(), text)],
  [
    'createMessage of a user',
    async (calls) => calls.message(calls.runs.conversationId, { userId: await calls.user() }),
  ],
  [
    'createMessage with a schedule',
    async (calls) => {
      const [conversationId, userId] = [await calls.conversation(), await calls.user()]
      await calls.call('POST', 'messages', { conversationId, userId, ...text, ...soon })
    },
  ],
  [
    'getOrCreateMessage',
    async (calls) => {
      const conversationId = await calls.conversation()
      const [given, tags] = [{ conversationId, ...text, userId: await calls.user() }, { a: '1' }]
      await calls.make('messages/get-or-create', { ...given, tags })
      await calls.call('POST', 'messages/get-or-create', { ...given, payload: { text: 'again' }, tags })
      await calls.call('POST', 'messages/get-or-create', given)
      await calls.call('POST', 'messages/get-or-create', { ...given, tags: { a: '2' }, ...soon })
    },
  ],
  [
    'importMessages',
    async (calls) => {
      const [conversationId, userId] = [await calls.conversation(), await calls.user()]
      const messages = [{ conversationId, userId, ...text, createdAt: '2020-01-01T00:00:00Z' }]
      await calls.call('POST', 'messages/import-messages', { messages })
    },
  ],
  [
    'updateMessage',
    async (calls) => {
      const id = await calls.message(calls.runs.conversationId)
      await calls.call('PUT', `messages/${id}`, { payload: { text: 'done' }, tags: { a: '1' } })
    },
  ],
  ...(['user', 'conversation', 'workflow'] as const).map((type): (typeof ofBots)[number] => [
    `operations of states of a ${type}`,
    async (calls) => {
      const path = `states/${type}/${await calls[type]()}`
      await calls.call('POST', `${path}/a`, { payload: { a: 1 } })
      await calls.call('PATCH', `${path}/a`, { payload: { b: 1 } })
      await calls.call('POST', `${path}/a/expiry`, { expiry: 60_000 })
      await calls.call('POST', `${path}/b/get-or-set`, { payload: { c: 1 } })
      await calls.call('POST', `${path}/a`, { payload: null })
    },
  ]),
  [
    'createEvent and cancelScheduledEvent',
    async (calls) => {
      const conversationId = await calls.conversation()
      const references = { userId: await calls.user(), workflowId: await calls.workflow() }
      const messageId = await calls.message(conversationId)
      const given = { type: 'reminder', payload: {}, ...references, conversationId, messageId }
      await calls.call('POST', 'events', given)
      const { event } = await calls.call('POST', 'events', { ...given, ...soon })
      await calls.call('DELETE', `events/scheduled/${event.id}`)
    },
  ],
  [
    'operations of users',
    async (calls) => {
      await calls.make('users/get-or-create', { tags: { a: '1' } })
      await calls.call('PUT', `users/${await calls.user()}`, { name: 'Anna' })
    },
  ],
  [
    'operations of conversations and participants',
    async (calls) => {
      const id = await calls.make('conversations/get-or-create', { channel: 'channel', tags: { a: '1' } })
      const userId = await calls.user()
      await calls.call('PUT', `conversations/${id}`, { tags: { b: '1' } })
      await calls.call('POST', `conversations/${id}/participants`, { userId })
      await calls.call('DELETE', `conversations/${id}/participants/${userId}`)
    },
  ],
  [
    'operations of workflows',
    async (calls) => {
      const references = { conversationId: await calls.conversation(), userId: await calls.user() }
      const parentWorkflowId = await calls.workflow(references)
      const { event } = await calls.call('POST', 'events', { type: 'begin', payload: {}, ...references })
      const inProgress = { status: 'in_progress', eventId: event.id }
      const id = await calls.workflow({ ...references, parentWorkflowId, ...inProgress })
      const named = { name: 'order', status: 'pending', ...references, parentWorkflowId, tags: { a: '1' } }
      await calls.make('workflows/get-or-create', named)
      await calls.call('PUT', `workflows/${id}`, { ...inProgress, userId: references.userId, output: { a: 1 } })
      await calls.call('PUT', `workflows/${id}`, { status: 'completed' })
    },
  ],
  ['endFlow', async (calls) => calls.call('DELETE', `conversations/${await calls.conversation()}/flow`)],
  [
    'handover and endHandover',
    async (calls) => {
      const id = await calls.conversation()
      await calls.call('POST', startOf(id), { title: 'Refund' })
      await calls.call('DELETE', startOf(id))
    },
  ],
  [
    'handover and resumeFlow',
    async (calls) => {
      const id = await calls.conversation()
      await calls.call('POST', startOf(id))
      await calls.call('POST', `conversations/${id}/flow/resume`)
      await calls.call('POST', `conversations/${id}/flow/resume`)
    },
  ],
  [
    'captureObservation',
    async (calls) =>
      calls.call('POST', 'observations', { name: 'seen', data: {}, conversationId: await calls.conversation() }),
  ],
  [
    'chat:sendEvent',
    async (calls) => {
      const input = { conversationId: await calls.conversation(), payload: {} }
      await calls.call('POST', 'actions', { type: 'chat:sendEvent', input })
    },
  ],
  [
    'actions of the web chat',
    async (calls) => {
      await installWebchat(platform, calls.runs.bot.id)
      const conversationId = await calls.make('conversations', { channel: 'channel', integrationName: 'webchat' })
      const act = (type: string, input: object) => calls.call('POST', 'actions', { type, input })
      await act('webchat:customEvent', { conversationId, event: '{"a":1}' })
      await act('webchat:getOrCreateUser', { name: 'Grace', user: { id: 'grace', conversationId } })
    },
  ],
  [
    'operations of files',
    async (calls) => {
      const { file } = await calls.call('PUT', '/v1/files', { key: 'a.txt', size: 1 })
      const sent = await fetch(file.uploadUrl, { method: 'PUT', body: 'x' })
      expect(sent.status).toBe(200)
      await calls.call('PUT', '/v1/files/a.txt', { tags: { a: '1' } })
      await calls.call('PUT', '/v1/files/a.txt/passages', { passages: [{ content: 'x' }] })
      await calls.call('POST', '/v1/files/a.txt/b.txt')
      await calls.call('DELETE', '/v1/files/a.txt')
      await calls.call('DELETE', '/v1/files/b.txt')
    },
  ],
  [
    'operations of knowledge bases',
    async (calls) => {
      const id = await calls.make('/v1/files/knowledge-bases', { name: 'docs' })
      await calls.call('PUT', `/v1/files/knowledge-bases/${id}`, { name: 'pages', tags: { a: '1' } })
    },
  ],
  [
    'operations of tables',
    async (calls) => {
      const id = await calls.table()
      const table = `/v1/tables/${id}`
      await calls.call('POST', '/v1/tables/ordersTable', { schema })
      await calls.call('PUT', table, { schema: { properties: { note: { type: 'string' } } } })
      await calls.call('PUT', `${table}/column`, { name: 'note', newName: 'remark' })
      await calls.call('POST', `${table}/duplicate`, { schemaOnly: true, tableName: 'copyTable' })
      await calls.call('GET', `${table}/export`)
      await calls.call('DELETE', '/v1/tables/copyTable')
    },
  ],
  [
    'operations of rows',
    async (calls) => {
      const table = `/v1/tables/${await calls.table()}`
      const { rows } = await calls.call('POST', `${table}/rows`, { rows: [{ name: 'a' }], waitComputed: true })
      const { id } = rows[0]
      await calls.call('PUT', `${table}/rows`, { rows: [{ id, count: 1 }] })
      await calls.call('POST', `${table}/rows/upsert`, { keyColumn: 'name', rows: [{ name: 'a' }, { name: 'b' }] })
      await calls.call('POST', `${table}/rows/delete`, { ids: [id] })
    },
  ],
]

/** The calls of the runs of integrations. */
const ofIntegrations: typeof ofBots = [
  [
    'createMessage',
    async (calls) => {
      const [conversationId, userId] = [await calls.conversation(), await calls.user()]
      await calls.message(conversationId, { ...text, userId, tags: { a: '1' }, origin: 'synthetic' })
    },
  ],
  [
    'getOrCreateMessage',
    async (calls) => {
      const [conversationId, userId] = [await calls.conversation(), await calls.user()]
      await calls.make('messages/get-or-create', { conversationId, userId, ...text, tags: { a: '1' } })
    },
  ],
  [
    'initializeIncomingMessage',
    async (calls) => {
      const [conversationId, userId] = [await calls.conversation(), await calls.user()]
      const { message } = await calls.call('POST', 'initialize-incoming-message', {
        conversationId,
        userId,
        message: text,
      })
      await calls.call('DELETE', `messages/${message.id}`)
    },
  ],
  [
    'operations of states',
    async (calls) => calls.call('POST', `states/user/${await calls.user()}/a`, { payload: { a: 1 } }),
  ],
  [
    'createEvent',
    async (calls) => calls.call('POST', 'events', { type: 'e', payload: {}, userId: await calls.user() }),
  ],
]

describe.each([
  ['the bot', ofBots],
  ['an integration', ofIntegrations],
] as const)('a run of %s that deletes what it has made gets the same answers when it is repeated', (who, cases) => {
  test.each(cases)('%s', async (_operation, perform) => {
    const runs = await openRuns(platform)
    const as = who === 'the bot' ? {} : { installation: runs.installation }
    const answers: string[][] = []
    for (let attempt = 1; attempt <= 2; attempt++) {
      const calls = new Calls(runs, await runs.begin(), as)
      await perform(calls)
      answers.push(await calls.end())
    }
    expect(answers[1]).toEqual(answers[0])
  })
})

describe('a repeated run', () => {
  test('announces a message again, unless the message is gone', async () => {
    const { begin, conversationId } = await openRuns(platform)
    const say = async (run: Run) => (await run('POST', 'messages', { conversationId, ...text })).body.message
    const first = await say(await begin())
    const [wakes, signals] = [vi.spyOn(platform.context.queue, 'wake'), vi.spyOn(platform.context.signals, 'publish')]
    const announced = () => wakes.mock.calls.length + signals.mock.calls.length
    try {
      const run = await begin()
      expect(await say(run)).toEqual(first)
      expect(announced()).toBeGreaterThan(0)
      await run('DELETE', `messages/${first.id}`)
      wakes.mockClear()
      signals.mockClear()
      const gone = await say(await begin())
      expect(announced()).toBe(0)
      const { createdAt } = gone
      expect(gone).toEqual({ ...first, createdAt, updatedAt: createdAt })
      expect(Math.abs(Date.parse(createdAt) - Date.parse(first.createdAt))).toBeLessThan(5000)
    } finally {
      wakes.mockRestore()
      signals.mockRestore()
    }
  })

  test('is told that it has configured the integration, which is uninstalled since', async () => {
    const { begin, installation } = await openRuns(platform)
    const configure = (run: Run) => run('POST', 'integrations/configure', { identifier: installation.id })
    expect(await configure(await begin())).toMatchObject({ status: 200 })
    await platform.context.db('installations').where({ id: installation.id }).delete()
    expect(await configure(await begin())).toMatchObject({ status: 200 })
  })

  test('is told that it has given a file a time that is past since', async () => {
    const { begin } = await openRuns(platform)
    const time = Date.now() + 3000
    const perform = async (run: Run) => {
      await run('PUT', '/v1/files', { key: 'a.txt', size: 1 })
      return run('PUT', '/v1/files/a.txt', { expiresAt: new Date(time).toISOString() })
    }
    const answer = await perform(await begin())
    expect(answer).toMatchObject({ status: 200 })
    await expect.poll(() => Date.now(), { timeout: 10_000 }).toBeGreaterThan(time)
    expect(await perform(await begin())).toEqual(answer)
  })

  test('is refused what it names as often as there is no such row', async () => {
    const { begin, conversationId } = await openRuns(platform)
    const refusals = async (run: Run) => {
      const answers = [
        await run('POST', 'messages', { conversationId, userId: 'user_x', ...text }),
        await run('POST', 'messages', { conversationId: 'conv_x', ...text, ...soon }),
        await run('POST', 'states/user/user_x/a', { payload: {} }),
        await run('PATCH', 'states/user/user_x/a', { payload: {} }),
        await run('POST', 'states/user/user_x/a/expiry', { expiry: null }),
        await run('POST', 'states/user/user_x/a/get-or-set', { payload: {} }),
        await run('POST', 'events', { type: 'e', payload: {}, userId: 'user_x' }),
        await run('POST', 'workflows', { name: 'a', status: 'pending', userId: 'user_x' }),
        await run('POST', 'workflows/get-or-create', { name: 'a', status: 'pending', userId: 'user_x' }),
        await run('DELETE', 'conversations/conv_x/flow'),
        await run('POST', 'conversations/conv_x/flow/resume'),
        await run('POST', 'conversations/conv_x/flow', { flow: 'main' }),
        await run('POST', `conversations/${conversationId}/flow`, { flow: 'main' }),
        await run('POST', 'observations', { name: 'a', data: {}, conversationId: 'conv_x' }),
        await run('PUT', '/v1/files', { key: 'a', size: 1, 'x-user-id': 'user_x' }),
      ]
      return answers.map(({ status }) => status)
    }
    const statuses = [400, 400, 404, 404, 404, 404, 400, 400, 400, 404, 404, 404, 400, 400, 400]
    expect(await refusals(await begin())).toEqual(statuses)
    expect(await refusals(await begin())).toEqual(statuses)
  })
})
