import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEndpoint } from '../support/models.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openCommandLine, type CommandLine } from './command-line.ts'

let platform: Platform
let isobot: CommandLine
let botId: string
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  const endpoint = parts.use(await startEndpoint())
  platform = parts.use(await openPlatform({ worker: false, environment: endpoint.environment }))
  isobot = parts.use(await openCommandLine(platform))
  botId = (await platform.createBot(undefined, { name: 'greeter' })).id
})
afterAll(() => parts.disposeAsync())

test('isobot models shows models and usage, and changes one bound of a budget at a time', async () => {
  const listed = await isobot.run(['models', 'list', 'greeter'])
  expect(listed.stdout).toMatch(/^MODEL +ALIASES +.*\nlocal:small +auto, fast, best/)
  expect((await isobot.run(['models', 'usage'])).stdout).toContain('No language model was used')

  const messages = [{ role: 'user', content: 'hi' }]
  await platform.ask('POST', '/v2/cognitive/generate-text', { messages }, { 'x-bot-id': botId })
  const used = await isobot.run(['models', 'usage', '--bot', 'greeter'])
  expect(used.stdout).toMatch(new RegExp(`${botId} +local:small +1 +10 +5 +\\$0\\.0000`))

  const budget = (...options: string[]) => isobot.json('models', 'budget', '--bot', 'greeter', ...options)
  expect(await budget('--day-tokens', '1000')).toMatchObject({
    budget: { dayTokens: 1000 },
    spent: { day: { tokens: 15 } },
  })
  expect(await budget('--month-dollars', '2.5')).toMatchObject({ budget: { dayTokens: 1000, monthDollars: 2.5 } })
  expect(await budget('--day-tokens', 'none')).toMatchObject({ budget: { monthDollars: 2.5 } })
  expect((await isobot.run(['models', 'budget', '--bot', 'greeter'])).stdout).toMatch(
    /month +15 +no bound +\$0\.0000 +\$2\.5/,
  )
  expect(await isobot.json('models', 'budget')).toMatchObject({ budget: {} })
  expect(await isobot.run(['models', 'budget', '--day-tokens', 'many'])).toMatchObject({ code: 2, stdout: '' })
})

test('isobot models keys sets a key from standard input, lists it without its value, and deletes it', async () => {
  const set = await isobot.run(['models', 'keys', 'set', 'anthropic'], { input: 'sk-own-0123456789\n' })
  expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining('calls anthropic with its own key') })
  const listed = await isobot.run(['models', 'keys'])
  expect(listed.stdout).toMatch(/^PROVIDER +SET AT +BY\nanthropic +20/)
  expect(set.stdout + listed.stdout).not.toContain('sk-own')
  expect((await isobot.run(['models', 'keys', 'delete', 'anthropic'])).code).toBe(0)
  expect((await isobot.run(['models', 'keys'])).stdout).toContain('has no keys of its own')
  expect((await isobot.run(['models', 'keys', 'set', 'ollama'], { input: 'x' })).code).not.toBe(0)
})
