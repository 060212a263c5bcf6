import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from '@botpress/client'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { complete, startEndpoint, type ScriptedEndpoint } from '../../support/models.ts'
import { openOwnPlatform, type OwnPlatform } from '../../support/own-platform.ts'
import { send } from '../../support/platform.ts'
import { writeMeasured } from '../write-measured.ts'
import { buildAgent } from './build-agent.ts'

const warmMessages = 10
const conversations = 6
const turnsOfEach = 4
const slowMilliseconds = 1000
/** Below the ten that the runtime allows. */
const manySteps = 9
const patienceMilliseconds = 30_000

/** A row of the report: what an agent does, and the problem or none. */
type Row = [trial: string, problem: string]

/**
 * Deploys an agent made with the published runtime, unmodified and with the settings of every new bot, and talks to it. Its
 * model is a stand-in on this machine.
 *
 * @param writes whether to write the results into the documentation too
 */
export async function measureAgents(writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'isobot-agent-')), (path) => rm(path, { recursive: true }))
  const site = parts.use(await startSite())
  const code = (await buildAgent(folder)).replaceAll('http://site.test', site.url)
  const endpoint = parts.use(await startEndpoint())
  const model = answerQuestions(endpoint)
  const platform = await openOwnPlatform(join(folder, 'data'), parts, {
    ...endpoint.environment,
    MODELS_SUBSTITUTE: 'local:large',
    LOG_LEVEL: 'error',
  })
  const rows: Row[] = []
  const times: string[] = []
  const attempt = async (trial: string, run: () => Promise<void>) => {
    const problem = await run().then(
      () => '',
      (error: Error) => error.message,
    )
    rows.push([trial, problem])
    console.log(trial, problem)
  }
  let [chatUrl, botId] = ['', '']
  await attempt('is deployed without settings', async () => {
    const [bot, milliseconds] = await timed(() => createBot(platform, code))
    chatUrl = bot.chatUrl
    botId = bot.id
    times.push(`deployed after ${milliseconds} ms`)
  })
  await attempt('answers with the result of a tool that code of the model calls', async () => {
    const conversation = await openConversation(chatUrl)
    const cold = await conversation.askFor(1)
    times.push(`first answer after ${cold} ms, loading included`)
    const warm: number[] = []
    for (let turn = 2; turn <= warmMessages + 1; turn++) warm.push(await conversation.askFor(turn))
    warm.sort((one, other) => one - other)
    times.push(`further ones after ${warm[warmMessages / 2]} ms (median of ${warmMessages}; longest ${warm.at(-1)} ms)`)
  })
  await attempt(`keeps the states of ${conversations} conversations at the same time`, async () => {
    model.milliseconds = slowMilliseconds
    const talk = async () => {
      const conversation = await openConversation(chatUrl)
      for (let turn = 1; turn <= turnsOfEach; turn++) await conversation.askFor(turn)
    }
    const [, milliseconds] = await timed(() => Promise.all(Array.from({ length: conversations }, talk)))
    model.milliseconds = 0
    const seconds = (milliseconds / 1000).toFixed(1)
    times.push(`${turnsOfEach} turns of each of ${conversations} conversations, with a model of 1 s, in ${seconds} s`)
  })
  const spent = (await processorTimes(platform, botId)).toSorted((one, other) => one - other)
  await attempt('synchronizes pages of a website into knowledge', () => synchronize(platform, botId))
  await attempt('asks the conversation from a workflow, which sleeps and waits for another one', () =>
    expectAnswer(chatUrl, 'deliver', 'completed: Main Street: accepted'),
  )
  await attempt('executes a workflow for each of three items at the same time', () =>
    expectAnswer(chatUrl, 'measure', 'completed: 1, 4, 9'),
  )
  await attempt('reads and writes the tags of its bot', async () => {
    await expectAnswer(chatUrl, 'tag gold', 'before: undefined')
    await expectAnswer(chatUrl, 'tag silver', 'before: gold')
  })
  await attempt(`takes ${manySteps} steps in a turn`, () =>
    expectAnswer(chatUrl, 'Think about my order 17.', 'Order 17 is shipped, turn 1'),
  )
  await attempt('answers to a picture, which its model sees', async () => {
    const picture = await uploadPicture(platform, botId)
    await showPicture(chatUrl, picture)
    if (!JSON.stringify(endpoint.requests.at(-1)!.body).includes('data:image/png;base64,'))
      throw new Error('it saw none')
  })
  await attempt('goes on after people have answered, with its state and their messages', () =>
    handOver(platform, { id: botId, chatUrl }, endpoint),
  )
  await attempt('names the limit where the bot itself limits the heap to 64 MB', async () => {
    const problem = await problemOf(platform, `${code}\n//`, { limits: { memoryMegabytes: 64 } })
    if (!problem.includes('limits.memoryMegabytes')) throw new Error(problem)
  })
  times.push(`median of the processor time of its events ${spent[Math.floor(spent.length / 2)]} ms`)
  const passed = rows.filter(([, problem]) => problem === '').length
  const summary =
    `${new Date().toISOString().slice(0, 10)}, \`@botpress/runtime\` 1.14, a bundle of ${(code.length / 1e6).toFixed(1)} MB: ` +
    `${passed} of ${rows.length} work; ${times.join(', ')}.`
  console.log(summary)
  if (passed < rows.length) process.exitCode = 1
  const table = rows.map(([trial, problem]) => `| ${trial} | ${problem === '' ? 'works' : inCell(problem)} |`)
  if (writes) {
    await writeMeasured('models.md', [summary, '', '| An agent | |', '| --- | --- |', ...table], 'measured agents')
  }
}

function inCell(text: string): string {
  return text.replaceAll(/[|\s]+/g, ' ').slice(0, 200)
}

/**
 * Lets the model write code that calls the agent's tool and names the turn, which the agent puts into its instructions. Where a user says so,
 * it thinks before, and sees in its messages how often it has.
 *
 * @returns how long it takes
 */
function answerQuestions(endpoint: ScriptedEndpoint): { milliseconds: number } {
  const model = { milliseconds: 0 }
  endpoint.script = async (response, { body }) => {
    await delay(model.milliseconds)
    const messages = body.messages as { role: string }[]
    const text = JSON.stringify(messages)
    const [, turn] = /This is turn (\d+)\./.exec(text) ?? []
    const steps = messages.filter(({ role }) => role === 'assistant').length + 1
    const thinks = text.includes('Think about') && steps < manySteps
    complete(response, {
      content: thinks
        ? `■fn_start\nreturn { action: 'think', step: ${steps} }\n■fn_end`
        : `■fn_start
const order = await orderStatus({ number: 17 })
yield <Message>{order.status + ', turn ${turn}'}</Message>
return { action: 'listen' }
■fn_end`,
    })
  }
  return model
}

/** A website of two pages. */
async function startSite() {
  const server = createServer((request, response) => {
    response
      .setHeader('content-type', 'text/html')
      .end(`<html><body><h1>${request.url}</h1><p>Within 30 days.</p></body></html>`)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() }
}

/** Sends a message in a conversation of its own, which may begin a workflow, and waits for the one that follows. */
async function expectAnswer(chatUrl: string, said: string, expected: string): Promise<void> {
  const user = await createChatUser(chatUrl)
  const id = await user.createConversation()
  await user.send(id, said)
  const { text } = await nextReply(user, id, 1)
  if (text !== expected) throw new Error(text)
}

/** @returns the address of a file of the bot */
async function uploadPicture(platform: OwnPlatform, botId: string): Promise<string> {
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId })
  const { file } = await client.uploadFile({
    key: 'picture.png',
    content: Buffer.from('png'),
    contentType: 'image/png',
  })
  return (await client.getFile(file)).file.url
}

/** Sends a picture in a conversation of its own, and waits for the answer of its first turn. */
async function showPicture(chatUrl: string, imageUrl: string): Promise<void> {
  const user = await createChatUser(chatUrl)
  const conversationId = await user.createConversation()
  await user.ask('POST', '/messages', { conversationId, payload: { type: 'image', imageUrl } })
  const { text } = await nextReply(user, conversationId, 1)
  if (text !== 'Order 17 is shipped, turn 1') throw new Error(text)
}

/** A member answers between two turns of a conversation. */
async function handOver(platform: OwnPlatform, { id, chatUrl }: Deployed, endpoint: ScriptedEndpoint): Promise<void> {
  const conversation = await openConversation(chatUrl)
  await conversation.askFor(1)
  const ofBot = `${platform.url}/v1/admin/bots/${id}`
  const ofConversation = `${ofBot}/conversations/${conversation.id}`
  const asked = async (path: string, input: object) => {
    const { status, body } = await send('POST', path, input, headersOf(platform))
    if (status > 201) throw new Error(body.message)
    return body
  }
  const { handover } = await asked(`${ofConversation}/handover`, {})
  await conversation.say('Is a person there?')
  await asked(`${ofConversation}/messages`, { type: 'text', payload: { text: 'I am a person.' } })
  await asked(`${ofBot}/handovers/${handover.id}/resolve`, {})
  await conversation.askFor(2, 3)
  const seen = JSON.stringify(endpoint.requests.at(-1)!.body)
  for (const text of ['Is a person there?', 'I am a person.']) {
    if (!seen.includes(text)) throw new Error(`the model did not see '${text}'`)
  }
}

/** Has the agent index the pages of its website, and checks the files that it uploads. */
async function synchronize(platform: OwnPlatform, botId: string): Promise<void> {
  const headers = { ...headersOf(platform), 'x-bot-id': botId }
  const permissions = { net: ['127.0.0.1'] }
  await send('PUT', `${platform.url}/v1/admin/bots/${botId}`, { permissions }, headersOf(platform))
  const workflow = { name: 'builtin_knowledge_indexing', status: 'pending', input: { kbName: 'shop', kbId: 'shop' } }
  const created = await send('POST', `${platform.url}/v1/chat/workflows`, workflow, headers)
  if (created.status !== 201) throw new Error(created.body.message)
  const path = `${platform.url}/v1/chat/workflows/${created.body.workflow.id}`
  for (const begun = Date.now(); ; await delay(500)) {
    const { status, output, failureReason } = (await send('GET', path, undefined, headers)).body.workflow
    if (status === 'completed' && output.added?.length === 2) break
    if (status === 'completed' || status === 'failed')
      throw new Error(`${status}: ${failureReason ?? JSON.stringify(output)}`)
    if (Date.now() - begun > patienceMilliseconds) throw new Error(`${status} after ${patienceMilliseconds / 1000} s`)
  }
  const { body } = await send('GET', `${platform.url}/v1/files`, undefined, headers)
  const urls = (body.files as { metadata: { hash?: string } }[]).filter(({ metadata }) => metadata.hash?.length === 64)
  if (urls.length !== 2) throw new Error(JSON.stringify(body.files))
}

interface Deployed {
  id: string
  /** The address of its chat. */
  chatUrl: string
}

async function createBot(platform: OwnPlatform, code: string, fields: object = {}): Promise<Deployed> {
  const { status, body } = await send('POST', `${platform.url}/v1/admin/bots`, { code, ...fields }, headersOf(platform))
  if (status !== 200) throw new Error(body.message)
  return { id: body.bot.id, chatUrl: body.bot.integrations.chat.webhookUrl }
}

function headersOf({ token, workspaceId }: OwnPlatform): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId }
}

/** Why a bot is refused, or why its first message fails. */
async function problemOf(platform: OwnPlatform, code: string, fields: object): Promise<string> {
  const bot = await createBot(platform, code, fields).catch((error: Error) => error.message)
  if (typeof bot === 'string') return bot
  const user = await createChatUser(bot.chatUrl)
  await user.send(await user.createConversation(), 'Where is my order 17?')
  for (const begun = Date.now(); Date.now() - begun < patienceMilliseconds; await delay(100)) {
    const path = `${platform.url}/v1/admin/bots/${bot.id}/events`
    const { body } = await send('GET', path, undefined, headersOf(platform))
    const failed = (body.events as { failureReason?: string | null }[]).find(({ failureReason }) => failureReason)
    if (failed) return failed.failureReason!
  }
  return `no failure within ${patienceMilliseconds / 1000} s`
}

/** The processor time of the newest events of a bot. */
async function processorTimes(platform: OwnPlatform, botId: string): Promise<number[]> {
  const path = `${platform.url}/v1/admin/bots/${botId}/events`
  const { body } = await send('GET', path, undefined, headersOf(platform))
  return (body.events as { cpuMilliseconds?: number }[]).flatMap(({ cpuMilliseconds: spent }) => spent ?? [])
}

interface Conversation {
  id: string
  say(text: string): Promise<unknown>
  /**
   * Asks, and waits for the answer that names the turn.
   *
   * @param reply its number among the messages of others, unless that is the turn
   * @returns the milliseconds between both messages
   */
  askFor(turn: number, reply?: number): Promise<number>
}

async function openConversation(chatUrl: string): Promise<Conversation> {
  const user = await createChatUser(chatUrl)
  const id = await user.createConversation()
  return {
    id,
    say: (text) => user.send(id, text),
    async askFor(turn, reply = turn) {
      const { body } = await user.send(id, `Where is my order 17? I ask for the ${turn}. time.`)
      const { text, createdAt } = await nextReply(user, id, reply)
      const expected = `Order 17 is shipped, turn ${turn}`
      if (text !== expected) throw new Error(`the answer is '${text}' instead of '${expected}'`)
      return Date.parse(createdAt) - Date.parse(body.message.createdAt)
    },
  }
}

/** Waits for the reply to the message of a turn. Requests are limited by minute, so it asks seldom. */
async function nextReply(user: ChatUser, conversationId: string, turn: number) {
  for (const begun = Date.now(); Date.now() - begun < patienceMilliseconds; await delay(500)) {
    const replies = (await user.messages(conversationId)).filter(({ userId }) => userId !== user.userId)
    if (replies.length >= turn) return replies.at(-1)!
  }
  throw new Error(`no answer within ${patienceMilliseconds / 1000} s`)
}

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, milliseconds: number]> {
  const begun = performance.now()
  const result = await work()
  return [result, Math.round(performance.now() - begun)]
}
