import { writeFile, mkdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { expect } from 'vitest'
import * as operations from '#shared/operations/index.ts'
import { compile } from '#shared/schema.ts'
import { bundleSdk } from '../sdk/bundle.ts'
import { createChatUser } from '../support/chat-client.ts'
import { logOf } from '../support/install-code.ts'
import { type DeployedBot, type Platform } from '../support/platform.ts'
import { notesOf, type Block } from './blocks.ts'
import type { Shell } from './shell.ts'

/** Where the examples of one page take place. */
export interface PageContext {
  platform: Platform
  shell: Shell
  /** Where the shell is. */
  directory: string
  /** The state after the examples so far: the bot of the page, and the last output. */
  bot: DeployedBot
  printed: string
  /** The page's own text. */
  page: string
  /** Puts what is true here in place of what a page can only say in general: addresses and ids. */
  localise(text: string): string
}

const sdkFolder = join(import.meta.dirname, '..', 'sdk')

const patience = { timeout: 20_000, interval: 20 }

/** How each kind of example is run. The kind is the first word of the comment before the block; the rest of its line is an argument. */
const kinds: Record<string, (context: PageContext, block: Block, argument: string) => Promise<void> | void> = {
  bot: deployBot,
  integration: installIntegration,
  shell: runShell,
  program: runProgram,
  file: ({ directory }, block, name) => writeInto(directory, name, block.text),
  body: validateBody,
  printed: ({ printed }, { text }) => expectLines(printed, text.trimEnd().split('\n')),
}

export const kindNames = Object.keys(kinds)

/** Runs an example, and looks whether what happens is what the page says. */
export async function runExample(context: PageContext, block: Block): Promise<void> {
  const [name = '', ...argument] = (block.kind ?? '').split(' ')
  const run = kinds[name]
  if (!run) throw new Error(`${block.place}: no kind of example is called '${name}': ${kindNames.join(', ')}`)
  await run(context, block, argument.join(' '))
}

/** `with`: further fields of createBot. `bundled`: a file with a bot of the public SDK, bundled as its command line does. `file`: where it is written as well. `say`, `send`, `event`: what a user does, in words or as a payload; `hear`, `log`, `fail`: what comes of it. */
async function deployBot(context: PageContext, block: Block): Promise<void> {
  const { platform, localise } = context
  const [fields = '{}'] = notesOf(block, 'with')
  const text = localise(block.text)
  const [bundled] = notesOf(block, 'bundled')
  for (const name of [...notesOf(block, 'file'), ...notesOf(block, 'bundled')])
    await writeInto(context.directory, name, text)
  const code = bundled === undefined ? text : await bundleSdk(relative(sdkFolder, join(context.directory, bundled)))
  const answer = await platform.ask('POST', '/v1/admin/bots', { code, ...(JSON.parse(localise(fields)) as object) })
  expect(answer.body).toHaveProperty('bot')
  const { id, integrations } = answer.body.bot
  context.bot = { id, webhookId: integrations.chat.webhookId, chatUrl: integrations.chat.webhookUrl }
  await converse(context, block)
}

/** Does what the notes of a block say, with the page's bot, and expects what they expect. */
async function converse({ platform, bot }: PageContext, block: Block): Promise<void> {
  const chatUser = await createChatUser(bot.chatUrl, { name: 'Ann' })
  const conversationId = await chatUser.createConversation()
  for (const [name, value] of block.notes) {
    if (name === 'say') expect(await chatUser.send(conversationId, value)).toMatchObject({ status: 201 })
    if (name === 'send') {
      const message = { conversationId, payload: JSON.parse(value) as unknown }
      expect(await chatUser.ask('POST', '/messages', message)).toMatchObject({ status: 201 })
    }
    if (name === 'event') {
      const event = { conversationId, payload: JSON.parse(value) as unknown }
      expect(await chatUser.ask('POST', '/events', event)).toMatchObject({ status: 201 })
    }
  }
  const heard = notesOf(block, 'hear')
  if (heard.length > 0) {
    const said = async () => {
      const { body } = await chatUser.ask('GET', `/conversations/${conversationId}/messages`)
      const messages = body.messages as { userId: string; payload: { type: string; text?: string } }[]
      return messages.toReversed().filter(({ userId }) => userId !== chatUser.userId)
    }
    await expect.poll(async () => (await said()).length, patience).toBeGreaterThanOrEqual(heard.length)
    const words = (await said()).map(({ payload }) =>
      payload.type === 'text' ? payload.text : JSON.stringify(payload),
    )
    expect(words).toEqual(heard.map((line) => expect.stringMatching(patternOf(line, '^', '$')) as string))
  }
  await expectLog(platform, bot, block)
  for (const reason of notesOf(block, 'fail')) {
    const reasons = () => platform.context.db('events').where({ bot_id: bot.id }).pluck('failure_reason')
    await expect.poll(reasons, patience).toContainEqual(expect.stringMatching(patternOf(reason)))
  }
}

async function expectLog(platform: Platform, bot: DeployedBot, block: Block): Promise<void> {
  for (const line of notesOf(block, 'log')) {
    await expect.poll(() => logOf(platform, bot.id), patience).toContainEqual(expect.stringMatching(patternOf(line)))
  }
}

/** Installs it on the page's bot, under its own name. `post`: a request to its webhook; `answer`: what that gets. */
async function installIntegration(context: PageContext, block: Block, name: string): Promise<void> {
  const { platform, bot, localise } = context
  const [fields = '{}', installed = '{}'] = [...notesOf(block, 'with'), ...notesOf(block, 'install')]
  const integration = { name, version: '1.0.0', code: localise(block.text), ...(JSON.parse(fields) as object) }
  const created = await platform.ask('POST', '/v1/admin/integrations', integration)
  expect(created.body).toHaveProperty('integration')
  const integrations = {
    [name]: { integrationId: created.body.integration.id, ...(JSON.parse(installed) as object) },
  }
  const { body } = await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations })
  expect(body.bot?.integrations[name]).toMatchObject({ status: 'registered' })
  const { webhookUrl } = body.bot.integrations[name]
  const answers = notesOf(block, 'answer')
  for (const [index, request] of notesOf(block, 'post').entries()) {
    const response = await fetch(webhookUrl, { method: 'POST', body: request })
    expect(await response.text()).toMatch(patternOf(answers[index] ?? '…'))
  }
  await expectLog(platform, bot, block)
}

/** `type`: what is typed into it. `print`: what it prints, among other things. `until`: it goes on until it has printed this. `names`: metrics, of which the page names all that it prints and no others. */
async function runShell(context: PageContext, block: Block): Promise<void> {
  const { shell, localise } = context
  const [until] = notesOf(block, 'until')
  const script = localise(block.text)
  const typed = notesOf(block, 'type')
  context.printed =
    until === undefined ? await shell.run(script, typed) : await shell.runUntil(script, typed, patternOf(until))
  expectLines(context.printed, notesOf(block, 'print'))
  for (const pattern of notesOf(block, 'names')) {
    const [named, printed] = [context.page, context.printed].map((text, index) => {
      const found = text.matchAll(new RegExp(index === 0 ? `\`(${pattern})\`` : `# TYPE (${pattern}) `, 'g'))
      return [...new Set(Array.from(found, ([, name = '']) => name))].toSorted()
    })
    expect(named).toEqual(printed)
  }
}

/** A module for Node, with the packages that this repository has. */
async function runProgram(context: PageContext, block: Block, name = 'program.js'): Promise<void> {
  const file = name || 'program.js'
  await writeInto(context.directory, file, context.localise(block.text))
  await runShell(context, { ...block, text: `node ${file}` })
}

/** JSON that is sent as the body of an operation. */
function validateBody(_scene: PageContext, block: Block, name: string): void {
  const operation = Object.values(operations).find((candidate) => candidate.name === name)
  if (!operation) throw new Error(`${block.place}: there is no operation '${name}'`)
  const isValid = compile(operation.input as { type: 'object' }, 'closedBody')
  const required = Object.fromEntries(pathParameters(operation.path).map((parameter) => [parameter, 'id']))
  isValid({ ...required, ...(JSON.parse(block.text) as object) })
  expect(isValid.errors ?? []).toEqual([])
}

function pathParameters(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\*?\}/g), ([, parameter]) => parameter!)
}

async function writeInto(directory: string, name: string, text: string): Promise<void> {
  await mkdir(dirname(join(directory, name)), { recursive: true })
  await writeFile(join(directory, name), text)
}

function expectLines(printed: string, lines: string[]): void {
  for (const line of lines) if (line.trim() !== '') expect(printed).toMatch(patternOf(line.trim()))
}

/** A line in which `…` stands for anything. */
function patternOf(line: string, begin = '', end = ''): RegExp {
  const parts = line.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`${begin}${parts.join('[^]*?')}${end}`)
}
