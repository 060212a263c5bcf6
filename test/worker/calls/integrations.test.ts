import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { installCode, logOf, type Installed } from '../../support/install-code.ts'
import { endedEvents, replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** A bot that answers what it hears, and acts as `perform` says when it hears `do`. */
const bot = (perform = '') => `
  export const hooks = {
    async afterIncomingMessage({ event, client, state, logger }) {
      const say = (text) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
      if (event.preview === 'do') { ${perform} }
      else await say('You said ' + event.preview)
    },
  }`

/** Has a bot with an installed integration perform something, and gives what it replied. */
async function perform(integration: string, what: string) {
  const { id, chatUrl } = await platform.createBot(bot(what))
  const installed = await installCode(platform, id, integration)
  const chatUser = await createChatUser(chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'do')
  await expect
    .poll(() => platform.context.db('events').where({ bot_id: id, type: 'message_created' }).first('status'), {
      timeout: 30_000,
    })
    .not.toMatchObject({ status: 'pending' })
  return { id, installed, replies: await replies(platform, conversationId) }
}

describe('register', () => {
  test('gets who it is, its configuration and its secrets, and acts as the integration', async () => {
    const { id } = await platform.createBot()
    const code = `
      export async function register({ ctx, env, client, logger }) {
        await client.configureIntegration({ identifier: 'shop 1' })
        logger.info(JSON.stringify({ ctx, env }))
      }`
    const definition = { secrets: { KEY: 'hush' } }
    const installed = await installCode(platform, id, code, { configuration: { shop: 1 }, definition })
    expect(installed).toMatchObject({ status: 'registered', statusReason: null })
    const [line, end] = await logOf(platform, id)
    expect(JSON.parse(line!.slice('info '.length))).toEqual({
      ctx: {
        botId: id,
        integrationId: installed.integrationId,
        integrationAlias: 'tool',
        configuration: { shop: 1 },
        configurationType: null,
        webhookId: installed.webhookId,
        webhookUrl: `${platform.url}/webhooks/${installed.webhookId}`,
      },
      env: { SECRET_KEY: 'hush' },
    })
    expect(end).toContain('register() of the integration')
    const row = await platform.context.db('installations').where({ webhook_id: installed.webhookId }).first()
    expect(row!.identifier).toBe('shop 1')
  })

  test('that throws is not retried while a caller waits, and gives the reason', async () => {
    const { id } = await platform.createBot()
    const installed = await installCode(platform, id, `export function register() { throw new Error('no shop') }`)
    expect(installed).toMatchObject({ status: 'registration_failed', statusReason: 'Error: no shop' })
    expect(await endedEvents(platform, id, 1)).toMatchObject([{ type: 'register', status: 'failed', attempt: 1 }])
  })

  test('may be left out', async () => {
    const { id } = await platform.createBot()
    expect(await installCode(platform, id, 'export const actions = {}')).toMatchObject({ status: 'registered' })
  })
})

/** Has a messenger receive texts; gives their conversation. */
async function tell({ webhookUrl }: Pick<Installed, 'webhookUrl'>, ...texts: string[]): Promise<string> {
  let conversationId = ''
  for (const text of texts) {
    const response = await fetch(webhookUrl, { method: 'POST', body: JSON.stringify({ from: 'ann', text }) })
    conversationId = await response.text()
  }
  return conversationId
}

/** The replies of the bot in a conversation. */
const sentMessages = (conversationId: string) =>
  platform.context
    .db('messages')
    .where({ conversation_id: conversationId, direction: 'outgoing' })
    .orderBy('created_at')

describe('a messenger', () => {
  /** Passes on to the bot what it receives, and notes on what the bot says that it was sent. */
  const messenger = `
    const failures = {}
    export async function handler({ request, client }) {
      const { from, text } = JSON.parse(request.body)
      const { user } = await client.getOrCreateUser({ tags: { id: from } })
      const { conversation } = await client.getOrCreateConversation({ channel: 'direct', tags: { id: from } })
      await client.createMessage({ conversationId: conversation.id, userId: user.id, type: 'text', payload: { text }, tags: {} })
      return { body: conversation.id }
    }
    export const channels = {
      direct: {
        messages: {
          async text({ type, payload, message, conversation, user, client, logger, ctx }) {
            if (payload.text.includes('flaky') && !failures[message.id]) throw failures[message.id] = new Error('line is dead')
            if (payload.text.includes('never')) throw new Error('unheard of')
            logger.info(payload.text)
            const sent = [type, conversation.tags.id, conversation.channel, user.id === ctx.botId].join(' ')
            await client.updateMessage({ id: message.id, tags: { sent } })
          },
        },
      },
    }`

  test('brings in the messages of a webhook, and delivers the bot’s answers', async () => {
    const { id } = await platform.createBot(bot())
    const installed = await installCode(platform, id, messenger)
    const conversationId = await tell(installed, 'hello')
    await expect
      .poll(async () => (await sentMessages(conversationId)).map(({ payload, tags }) => ({ ...payload, ...tags })), {
        timeout: 20_000,
      })
      .toEqual([{ text: 'You said hello', 'tool:sent': 'text ann direct true' }])
    const [incoming] = await platform.context.db('messages').where({ bot_id: id, direction: 'incoming' })
    expect(incoming!.payload).toEqual({ text: 'hello' })
  })

  test('receives a failed delivery again, and later ones wait for it', async () => {
    const { id } = await platform.createBot(bot())
    const installed = await installCode(platform, id, messenger)
    const conversationId = await tell(installed, 'one', 'flaky', 'three')
    await expect
      .poll(() => logOf(platform, id).then((lines) => lines.filter((line) => line.startsWith('info You'))), {
        timeout: 20_000,
      })
      .toEqual(['info You said one', 'info You said flaky', 'info You said three'])
    const deliveries = await platform.context.db('events').where({ mailbox: `${conversationId}:out` })
    expect(deliveries.filter(({ failures }) => failures === 1)).toHaveLength(1)
    expect(deliveries.filter(({ failures }) => failures === 0)).toHaveLength(2)
    expect(await logOf(platform, id)).toContainEqual(
      expect.stringContaining('error channels.direct.messages.text: Error: line is dead'),
    )
  })

  test('that cannot carry out a message fails it in the end, and goes on with the next', async () => {
    const { id } = await platform.createBot(bot())
    const installed = await installCode(platform, id, messenger)
    const conversationId = await tell(installed, 'never', 'fine')
    const deliveries = () =>
      platform.context
        .db('events')
        .where({ mailbox: `${conversationId}:out` })
        .orderBy('created_at')
    await expect
      .poll(async () => (await deliveries()).map(({ status }) => status), { timeout: 30_000 })
      .toEqual(['failed', 'processed'])
    const [failed] = await deliveries()
    expect(failed).toMatchObject({
      failures: 4,
      attempt: 4,
      failure_reason: 'channels.direct.messages.text: Error: unheard of',
    })
    const logged = await platform.context.db('logs').where({ event_id: failed!.id, level: 'error' })
    expect(logged.length).toBe(4)
  }, 40_000)

  test.for([
    ['that is disabled', { enabled: false }, "The integration 'tool' is disabled"],
    ['whose channel is disabled', { disabledChannels: ['direct'] }, "The channel 'direct' of 'tool' is disabled"],
  ] as const)('%s is told of nothing, which the log tells', async ([, change, reason]) => {
    const { id } = await platform.createBot(bot())
    const { integrationId, ...installed } = await installCode(platform, id, messenger)
    const conversationId = await tell(installed, 'hello')
    await endedEvents(platform, id, 4)
    await platform.ask('PUT', `/v1/admin/bots/${id}`, { integrations: { tool: { integrationId, ...change } } })
    const body = { conversationId, type: 'text', payload: { text: 'hear me' } }
    expect(await platform.ask('POST', '/v1/chat/messages', body, { 'x-bot-id': id })).toMatchObject({ status: 201 })
    await expect
      .poll(() => logOf(platform, id), { timeout: 20_000 })
      .toContainEqual(expect.stringContaining(`warn ${reason}`))
    expect(await logOf(platform, id)).not.toContain('info hear me')
  })
})

describe('an action of an integration', () => {
  const calculator = `
    let calls = 0
    export const actions = {
      add: ({ input, ctx, env, logger }) => { logger.info('adding'); return { sum: input.a + input.b, calls: ++calls, alias: ctx.integrationAlias } },
      fail: () => { throw new Error('out of numbers') },
      again: ({ client }) => client.callAction({ type: 'tool:again', input: {} }),
      async borrow({ client }) { return (await client.callAction({ type: 'greet', input: { name: 'Ann' } })).output },
      async note({ client, ctx }) {
        const { state } = await client.setState({ type: 'integration', id: ctx.integrationId, name: 'noted', payload: { by: 'tool' } })
        return { payload: state.payload }
      },
    }`

  test('is called by the bot as alias:action, and gives it what it returns', async () => {
    const { replies } = await perform(
      calculator,
      `const { output } = await client.callAction({ type: 'tool:add', input: { a: 2, b: 40 } }); await say(JSON.stringify(output))`,
    )
    // With the fields in the order in which a repeated run gets them from the journal.
    expect(replies).toEqual(['{"sum":42,"alias":"tool","calls":1}'])
  })

  test('is called over HTTP too', async () => {
    const { id } = await platform.createBot()
    await installCode(platform, id, calculator)
    const call = (type: string) =>
      platform.ask('POST', '/v1/chat/actions', { type, input: { a: 2, b: 40 } }, { 'x-bot-id': id })
    expect(await call('tool:add')).toMatchObject({ status: 200, body: { output: { sum: 42 } } })
    expect(await call('tool:fail')).toMatchObject({
      status: 400,
      body: { type: 'Runtime', message: expect.stringContaining('out of numbers') },
    })
  })

  test('acts as the integration', async () => {
    const { id, replies } = await perform(
      calculator,
      `const { output } = await client.callAction({ type: 'tool:note', input: {} }); await say(JSON.stringify(output))`,
    )
    expect(replies).toEqual(['{"payload":{"by":"tool"}}'])
    const [state] = await platform.context.db('states').where({ bot_id: id, name: 'noted' })
    expect(state!.installation_id).toMatch(/^int_/)
  })

  test('is not called again by a run that is repeated', async () => {
    const { id, chatUrl } = await platform.createBot(
      bot(`
        const { output } = await client.callAction({ type: 'tool:add', input: { a: 1, b: 1 } })
        if (!globalThis.failed) { globalThis.failed = true; throw new Error('once') }
        await say('calls: ' + output.calls)`) + `\nexport const retry = { attempts: 2, backoff: 0 }`,
    )
    await installCode(platform, id, calculator)
    const chatUser = await createChatUser(chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, 'do')
    await expect.poll(() => replies(platform, conversationId), { timeout: 20_000 }).toEqual(['calls: 1'])
    const event = () => platform.context.db('events').where({ bot_id: id, type: 'message_created' }).first()
    await expect.poll(event, { timeout: 10_000 }).toMatchObject({ status: 'processed', attempt: 2 })
  })

  test('calls an action of the bot again, which failed in an earlier run', async () => {
    const { id, chatUrl } = await platform.createBot(
      bot(`await say((await client.callAction({ type: 'tool:borrow', input: {} })).output.text)`) +
        `
        export const retry = { attempts: 2, backoff: 0 }
        let calls = 0
        export const actions = {
          greet() { if (++calls === 1) throw new Error('not yet'); return { text: 'calls: ' + calls } },
        }`,
    )
    await installCode(platform, id, calculator)
    const chatUser = await createChatUser(chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, 'do')
    await expect.poll(() => replies(platform, conversationId), { timeout: 20_000 }).toEqual(['calls: 2'])
  })

  test('that fails gives the bot the reason', async () => {
    const { replies } = await perform(
      calculator,
      `await client.callAction({ type: 'tool:fail', input: {} }).catch((error) => say(error.type + ' ' + error.message))`,
    )
    expect(replies).toEqual(["Runtime The action 'tool:fail' failed: out of numbers"])
  })

  test('that calls the bot’s, which calls it again, is stopped as well', async () => {
    const { id } = await platform.createBot(`
      export const actions = {
        ping: async ({ client }) => (await client.callAction({ type: 'tool:pong', input: {} })).output,
      }`)
    await installCode(
      platform,
      id,
      `export const actions = {
        pong: async ({ client }) => (await client.callAction({ type: 'ping', input: {} })).output,
      }`,
    )
    const called = await platform.ask('POST', '/v1/chat/actions', { type: 'ping', input: {} }, { 'x-bot-id': id })
    expect(called.body.message).toContain('Actions call each other more than 16 levels deep')
    const events = await platform.context.db('events').where({ bot_id: id, type: 'action_triggered' })
    expect(events.length).toBeLessThanOrEqual(16)
  })

  test('that calls itself without end is stopped', async () => {
    const { replies } = await perform(
      calculator,
      `await client.callAction({ type: 'tool:again', input: {} }).catch((error) => say(error.message))`,
    )
    expect(replies).toEqual([expect.stringContaining('Actions call each other more than 16 levels deep')])
  })

  test('may call one of the bot’s own', async () => {
    const { id } = await platform.createBot(
      `export const actions = { greet: ({ input }) => ({ text: 'Hi ' + input.name }) }`,
    )
    await installCode(platform, id, calculator)
    const call = { type: 'tool:borrow', input: {} }
    expect(await platform.ask('POST', '/v1/chat/actions', call, { 'x-bot-id': id })).toMatchObject({
      status: 200,
      body: { output: { text: 'Hi Ann' } },
    })
  })

  test('that does not exist is refused with the names of the existing ones, at both entry points', async () => {
    const types = ['tool:multiply', 'other:add', 'chat:dance']
    const { id, replies } = await perform(
      calculator,
      `for (const type of ${JSON.stringify(types)}) await client.callAction({ type, input: {} }).catch((error) => say(error.message))`,
    )
    expect(replies).toEqual([
      "Action 'multiply' of the integration 'tool' not found: it has add, fail, note, again, borrow",
      "Integration 'other' not found: the bot has chat, tool",
      "Action 'dance' of the integration 'chat' not found: it has sendEvent, publishMessageStream, startTypingIndicator, stopTypingIndicator",
    ])
    for (const [index, type] of types.entries()) {
      const answer = await platform.ask('POST', '/v1/chat/actions', { type, input: {} }, { 'x-bot-id': id })
      expect(answer).toMatchObject({ status: 400, body: { type: 'ReferenceNotFound', message: replies[index] } })
    }
  })
})

describe('the hooks around actions', () => {
  test('run for those of integrations', async () => {
    const { id, chatUrl } = await platform.createBot(`
      export const hooks = {
        beforeCallAction: ({ action }) => ({ data: { ...action, input: { ...action.input, b: 40 } } }),
        afterIncomingMessage: async ({ event, client }) => {
          const { output } = await client.callAction({ type: 'tool:add', input: { a: 2, b: 2 } })
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: String(output.sum) } })
        },
      }`)
    await installCode(platform, id, 'export const actions = { add: ({ input }) => ({ sum: input.a + input.b }) }')
    const chatUser = await createChatUser(chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, 'add')
    await expect.poll(() => replies(platform, conversationId), { timeout: 20_000 }).toEqual(['42'])
  })
})

describe('one integration on two bots', () => {
  test('shares nothing', async () => {
    const counter = 'let calls = 0; export const actions = { count: () => ({ calls: ++calls }) }'
    const [first, second] = [await platform.createBot(), await platform.createBot()]
    const { integrationId } = await installCode(platform, first.id, counter)
    await platform.ask('PUT', `/v1/admin/bots/${second.id}`, {
      integrations: { tool: { integrationId, enabled: true } },
    })
    for (const { id } of [first, second]) {
      const answer = await platform.ask(
        'POST',
        '/v1/chat/actions',
        { type: 'tool:count', input: {} },
        { 'x-bot-id': id },
      )
      expect(answer.body).toMatchObject({ output: { calls: 1 } })
    }
  })
})
