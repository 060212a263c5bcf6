import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { actionRun, bot, botThat, done, logged, messageRun, openTestSandbox, type TestSandbox } from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

describe('the pipeline of an event', () => {
  test('runs the stages in order, and the hooks of a list in order', async () => {
    const bundle = bot(`
      const say = (text) => async ({ logger }) => { await null; logger.info(text) }
      exports.hooks = {
        afterTurnEnd: say('end'),
        afterIncomingMessage: say('after'),
        beforeIncomingMessage: [say('first'), say('second'), say('third')],
      }`)
    const outcome = done(await sandbox.run(messageRun(bundle)))
    expect(logged(outcome)).toEqual(['first', 'second', 'third', 'after', 'end'])
    expect(outcome.result).toBe(false)
  })

  test('awaits each hook before it calls the next', async () => {
    const bundle = bot(`
      exports.hooks = { beforeIncomingMessage: [
        async ({ logger }) => { await new Promise((resolve) => setTimeout(resolve, 20)); logger.info('slow') },
        ({ logger }) => logger.info('fast'),
      ] }`)
    expect(logged(await sandbox.run(messageRun(bundle)))).toEqual(['slow', 'fast'])
  })

  test('gives what a hook returns as data to the hooks that follow, with the same state', async () => {
    const bundle = bot(`
      exports.hooks = {
        beforeIncomingMessage: ({ event, state }) => { state.conversation.seen = 1; return { data: { preview: event.preview + '!' } } },
        afterIncomingMessage: ({ event, state, logger }) => {
          logger.info(event.preview, event.state === state, state.conversation.seen)
          state.conversation.seen += 1
        },
      }`)
    const outcome = done(await sandbox.run(messageRun(bundle, { event: { preview: 'hello' } })))
    expect(logged(outcome)).toEqual(['hello! true 1'])
    expect(outcome.state).toEqual({ conversation: { seen: 2 } })
  })

  test('takes the state of data that has one', async () => {
    const bundle = botThat(`return { data: { ...event, state: { user: { name: 'Ada' } } } }`)
    expect(done(await sandbox.run(messageRun(bundle))).state).toEqual({ user: { name: 'Ada' } })
  })

  test('ends at a hook that says stop, but for the final stage', async () => {
    const bundle = bot(`
      const say = (text, value) => ({ logger }) => { logger.info(text); return value }
      exports.hooks = {
        beforeIncomingMessage: [say('one', { stop: true }), say('two')],
        afterIncomingMessage: say('three'),
        afterTurnEnd: say('end'),
      }`)
    const outcome = done(await sandbox.run(messageRun(bundle)))
    expect(logged(outcome)).toEqual(['one', 'end'])
    expect(outcome.result).toBe(true)
  })

  test('fails with the error of a hook, whose frames are those of the bundle', async () => {
    const bundle = bot(`exports.hooks = {
  async afterIncomingMessage() {
    await null
    throw new RangeError('too far')
  },
  afterTurnEnd({ logger }) { logger.info('end') },
}`)
    const outcome = await sandbox.run(messageRun(bundle))
    expect(outcome).toMatchObject({ status: 'failed', reason: 'error', logs: [] })
    expect(outcome).toHaveProperty('error.name', 'RangeError')
    expect(outcome).toHaveProperty('error.message', 'too far')
    expect(outcome).toHaveProperty('error.stack', expect.stringMatching(/^ +at .*bot\.js:4:11\)?$/))
  })

  test('succeeds when the bot has no hooks for it', async () => {
    expect(done(await sandbox.run(messageRun(bot('exports.actions = {}')))).result).toBe(false)
  })

  test('gives hooks a real Date as createdOn', async () => {
    const bundle = botThat(`logger.info(event.createdOn instanceof Date, event.createdOn.getTime())`)
    expect(logged(await sandbox.run(messageRun(bundle)))).toEqual([`true ${Date.parse('2026-01-02T03:04:05.678Z')}`])
  })

  test('returns the state without what is temporary', async () => {
    const bundle = botThat(`state.temp.secret = 1; state.conversation.turns = 3; state.user = { name: 'Ada' }`)
    const { state } = done(await sandbox.run(messageRun(bundle)))
    expect(state).toEqual({ conversation: { turns: 3 }, user: { name: 'Ada' } })
  })

  test('calls hooks with this as the hooks object', async () => {
    const bundle = bot(`exports.hooks = {
      afterIncomingMessage({ logger }) { logger.info(typeof this.afterTurnEnd) }, afterTurnEnd() {} }`)
    expect(logged(await sandbox.run(messageRun(bundle)))).toEqual(['function'])
  })
})

describe('an action', () => {
  test('results in what it returns', async () => {
    const bundle = bot(`exports.actions = {
      greet: async ({ input, event, state, client, logger }) => {
        logger.info(event.preview)
        return { text: 'Hello ' + input.name, given: [typeof client, typeof state] }
      } }`)
    const run = actionRun(bundle, { name: 'greet', input: { name: 'Ada' } }, { event: { preview: 'hi' } })
    const outcome = done(await sandbox.run(run))
    expect(outcome.result).toEqual({ text: 'Hello Ada', given: ['object', 'object'] })
    expect(logged(outcome)).toEqual(['hi'])
  })

  test('results in an empty object when it returns nothing', async () => {
    const bundle = bot(`exports.actions = { silent() {} }`)
    expect(done(await sandbox.run(actionRun(bundle, { name: 'silent', input: {} }))).result).toEqual({})
  })

  test('fails when the bot does not have it, even if every object does', async () => {
    const bundle = bot(`exports.actions = {}`)
    for (const name of ['missing', 'toString']) {
      const outcome = await sandbox.run(actionRun(bundle, { name, input: {} }))
      expect(outcome).toMatchObject({ status: 'failed', reason: 'error' })
      expect(outcome).toHaveProperty('error.message', expect.stringContaining(name))
    }
  })
})
