import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { installCode, logOf } from '../../support/install-code.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

const hook = (body: string) => `
  let events = 0
  export const hooks = { async afterIncomingMessage({ event, client, state, logger, env }) { events += 1; ${body} } }`

async function createBot(code: string, fields: object = {}): Promise<{ id: string; chatUrl: string }> {
  const { body, status } = await platform.ask('POST', '/v1/admin/bots', { code, ...fields })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { id: body.bot.id, chatUrl: body.bot.integrations.chat.webhookUrl }
}

/** Says something to a bot; gives the event of that, once it has ended, and the log so far. */
async function wake({ id, chatUrl }: { id: string; chatUrl: string }) {
  const before = await platform.context.db('events').where({ bot_id: id }).pluck('id')
  const chatUser = await createChatUser(chatUrl)
  await chatUser.send(await chatUser.createConversation(), 'go')
  const events = await endedEvents(platform, id, before.length + 1)
  return { event: events.find((event) => !before.includes(event.id))!, log: await logOf(platform, id) }
}

/** Writes down what it finds in a form that is not starred out. */
const spell = `const spell = (value) => String(value).split('').join(' ')`
const spelled = (secret: string) => secret.split('').join(' ')

const secret = 'sk-live-0123456789'

describe('the secrets of a bot', () => {
  test('are in the env of its hooks, of those around what it sends, and of its actions', async () => {
    const code = `${spell}
      const tell = (where) => ({ logger, env }) => { logger.info(where + ' ' + spell(env.SECRET_API_KEY) + ' ' + Object.keys(env)) }
      export const hooks = {
        beforeIncomingMessage: tell('before'),
        beforeOutgoingMessage: tell('outgoing'),
        async afterIncomingMessage({ event, client }) {
          const { conversationId } = event
          await client.createMessage({ conversationId, type: 'text', payload: { text: 'hi' } })
          await client.callAction({ type: 'act', input: {} })
        },
        beforeCallAction: tell('calling'),
        afterTurnEnd: tell('end'),
      }
      export const actions = { act: tell('action') }`
    const { event, log } = await wake(await createBot(code, { secrets: { API_KEY: secret } }))
    expect(event.status).toBe('processed')
    expect(log).toEqual(
      ['before', 'outgoing', 'calling', 'action', 'end'].map(
        (where) => `info ${where} ${spelled(secret)} SECRET_API_KEY`,
      ),
    )
  })

  test('are none where it has none, and cannot be changed by its code', async () => {
    const code = hook(`
      try { env.SECRET_NEW = 'mine' } catch (error) { logger.info(error.name) }
      logger.info(Object.keys(env).length + ' ' + typeof process)`)
    expect((await wake(await createBot(code))).log).toEqual(['info TypeError', 'info 0 undefined'])
  })

  test('that change reach the next event, in another isolate; those that stay leave it', async () => {
    const bot = await createBot(`${spell}\n${hook(`logger.info(events + ' ' + spell(env.SECRET_A))`)}`, {
      secrets: { A: 'first-one' },
    })
    const update = (fields: object) => platform.ask('PUT', `/v1/admin/bots/${bot.id}`, fields)
    await wake(bot)
    await update({ name: 'another' })
    await wake(bot)
    await update({ secrets: { A: 'second-one' } })
    await wake(bot)
    await update({ secrets: { A: null } })
    expect((await wake(bot)).log).toEqual([
      `info 1 ${spelled('first-one')}`,
      `info 2 ${spelled('first-one')}`,
      `info 1 ${spelled('second-one')}`,
      `info 1 ${spelled('undefined')}`,
    ])
  })

  test('are starred out of its log and of what its failures say', async () => {
    const code = hook(`
      logger.info('the key is', env.SECRET_API_KEY, { nested: env }, encodeURIComponent(env.SECRET_API_KEY))
      console.log(JSON.stringify(env))
      await client.captureObservation({ name: 'env', data: { key: env.SECRET_API_KEY, before: 'x'.repeat(4040), env } })
      throw new Error('refused: ' + env.SECRET_API_KEY, { cause: new TypeError('with ' + env.SECRET_API_KEY) })`)
    const awkward = 'a"b\\c/d é+f\n0123'
    const bot = await createBot(code, { secrets: { API_KEY: awkward, LONGER: `${awkward}-and-more`, SHORT: 'abc' } })
    const { event, log } = await wake(bot)
    expect(event.failure_reason).toContain('Error: refused: ***')
    expect(log).toContainEqual(expect.stringContaining('the key is *** '))
    const written = JSON.stringify([event, log, await platform.context.db('logs').where({ bot_id: bot.id })])
    for (const form of [awkward, encodeURIComponent(awkward), '0123', 'and-more']) expect(written).not.toContain(form)
    expect(log.at(-1)).toContain('Caused by: TypeError: with ***')
    // Too short to be a secret.
    expect(written).toContain('abc')
    expect(written).toContain('Observation env: {\\"data\\":{\\"key\\":\\"***\\"')
  })

  test('are starred out in each form that an inspection gives them: quoted, by lines, indented, cut, as names', async () => {
    const key = ['-----BEGIN KEY-----', 'it\'s "a\\b`', 'MIIEvQIBADANBgkq', 'é\u0001\u0085fghijk'].join('\r\n')
    const code = `import util from 'node:util'
      ${hook(`
        const key = env.SECRET_API_KEY
        class Own { [util.inspect.custom]() { return 'own ' + key } }
        const shapes = [key, [key, key], { [key]: 1 }, new Map([[key, key]]), new Own(), new Error('with ' + key)]
        for (const shape of shapes) {
          logger.info({ deep: { shape } })
          logger.info(util.inspect({ deep: { shape } }, { breakLength: 20 }))
          logger.info(util.format('%o', { shape }))
        }
        logger.info({ [key]: { [key]: key } })
        console.dir({ key }, { maxStringLength: 30 })
        console.table([{ key }])`)}`
    const bot = await createBot(code, { secrets: { API_KEY: key } })
    const { event, log } = await wake(bot)
    expect(event.status).toBe('processed')
    expect(log).toHaveLength(21)
    expect(log.filter((line) => !line.includes('***'))).toEqual([])
    const found = ['BEGIN', "it's", "it\\'s", 'a\\b', 'MIIE', 'é', 'fghijk'].filter((part) => log.join().includes(part))
    expect(found).toEqual([])
  })

  test('are starred out before a text is cut, so that nothing of one is left where that is', async () => {
    const code = hook(`
      const key = env.SECRET_API_KEY
      const before = (characters) => 'x'.repeat(characters - 10) + key + ' and more'
      logger.info(before(4096))
      console.table([[before(5000)], [before(4050)]])
      console.log('%s', [before(4090)])
      Promise.reject(new Error(before(1000)))
      await client.getUser({ id: event.userId })
      const error = new Error(before(1000), { cause: new Error(before(300 - 'Caused by: Error: '.length)) })
      error.name = before(100)
      throw error`)
    const bot = await createBot(code, { secrets: { API_KEY: secret } })
    const { event, log } = await wake(bot)
    expect(event.status).toBe('failed')
    const written = JSON.stringify([event, log])
    const found = ['Unhandled rejection', 'Caused by', '***', secret.slice(0, 2)].map((text) => written.includes(text))
    expect(found).toEqual([true, true, true, false])
  })

  test.each([
    [
      'the name of a value without a JSON form',
      `await client.createEvent({ type: 'later', payload: { list: [{ [env.SECRET_API_KEY]: 1n }] } })`,
    ],
    [
      'what a conversion throws',
      `state.session.odd = { toJSON() { throw new Error('x'.repeat(190) + env.SECRET_API_KEY) } }`,
    ],
  ])('are starred out of the reason of a refusal, which cuts %s', async (_what, body) => {
    const bot = await createBot(hook(body), { secrets: { API_KEY: '0123456789'.repeat(8) } })
    const { event, log } = await wake(bot)
    expect(event.status).toBe('failed')
    expect(event.failure_reason).toContain('***')
    expect(JSON.stringify([event, log])).not.toContain('012345')
  })

  describe('are looked for', () => {
    /** Looks through everything that code can reach, and logs where it found some secret. */
    const search = `
      const seen = new Set()
      const found = []
      const look = (value, path, depth) => {
        if (typeof value === 'string' && value.includes('live')) found.push(path)
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || depth > 8) return
        seen.add(value)
        for (const key of Reflect.ownKeys(value)) {
          try {
            const part = value[key]
            // Some getters answer with a rejected promise on the prototype itself.
            if (part instanceof Promise) part.catch(() => {})
            look(part, path + '.' + String(key), depth + 1)
          } catch {}
        }
        look(Object.getPrototypeOf(value), path + '.__proto__', depth + 1)
      }
      const search = (given) => {
        look(given, 'given', 0)
        look(globalThis, 'globalThis', 0)
        for (const make of [Function, (async () => {}).constructor]) look(make('return this')(), 'this', 0)
        try { null.x } catch (error) { look(error, 'error', 0) }
        given.logger.info((seen.size > 300) + ' found ' + found.join())
      }`
    const searching = `${search}\n${hook('search({ event, client, state, logger, env })')}`

    test('by its own code, which finds them', async () => {
      const { log } = await wake(await createBot(searching, { secrets: { API_KEY: secret } }))
      expect(log).toEqual(['info true found given.env.SECRET_API_KEY'])
    })

    test('by another bot in the same process, in vain', async () => {
      const victim = await createBot(hook('globalThis.kept = env; events = env'), { secrets: { API_KEY: secret } })
      const thief = await createBot(searching, { secrets: { OTHER: 'of no interest' } })
      await wake(victim)
      expect((await wake(thief)).log).toEqual(['info true found '])
      await wake(victim)
      expect((await wake(thief)).log).toEqual(['info true found ', 'info true found '])
    })

    test('by an integration that it has installed, and by it those of the integration, in vain', async () => {
      const looking = `${search}\nexport const actions = { look(given) { search(given); return {} } }`
      const code = `${search}\n${hook(`
        await client.callAction({ type: 'tool:look', input: {} })
        env = {}
        search({ event, client, state, logger })`)}`
      const bot = await createBot(code, { secrets: { API_KEY: secret } })
      await installCode(platform, bot.id, looking, { definition: { secrets: { THEIRS: 'live-too' } } })
      const { event, log } = await wake(bot)
      expect(event.failure_reason).toBeNull()
      const found = log.filter((line) => line.includes('found'))
      expect(found).toEqual(['info true found given.env.SECRET_THEIRS', 'info true found '])
    })
  })
})
