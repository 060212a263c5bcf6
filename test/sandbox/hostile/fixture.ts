import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Child } from '../../../cli/start/children.ts'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'
import { startProcess } from '../../support/processes.ts'
import type { NeighbourIds } from './hostile.ts'
import { residentBytes, sandboxPids } from './memory.ts'
import { openServers, type Servers } from './servers.ts'
import { until } from './until.ts'

/**
 * Long beside the processor time that code may take: sandbox processes have a low priority, and on a busy machine get little
 * of the processors in this time. Only ideas that are about time end by it, and have less.
 */
export const wallMilliseconds = 40_000

/** Small, so that what meets a limit meets it soon. */
const limits = {
  SANDBOX_CPU_MS: '200',
  SANDBOX_WALL_MS: String(wallMilliseconds),
  SANDBOX_HEAP_MB: '32',
  // Warm isolates make room from here on, so that what stays is not theirs.
  SANDBOX_MEMORY: '256',
}

/** Nobody but the neighbour should ever see it. */
export const neighbourSecret = 'the secret of the neighbour'

/** Of the worker's environment: nothing that bot code should see. */
const workerEnvironment = {
  TZ: 'Pacific/Chatham',
  LANG: 'de_AT.UTF-8',
  SECRET_OF_THE_WORKER: 'secret-of-the-worker',
}

/** The neighbour is spoken to without a pause; between two messages pass these. */
const pauseMilliseconds = 100

/**
 * The worker and its sandbox processes hold no more when nothing hostile runs any more. A worker holds about 180 MB when
 * it starts, and 300 to 310 once it has been busy: V8 keeps pages that it may need again.
 */
const workerMegabytes = 400
const sandboxMegabytes = 350

/** A platform with one sandbox process, and in it a neighbour who answers messages all the time. */
export interface Fixture extends AsyncDisposable {
  readonly platform: Platform
  readonly neighbour: NeighbourIds
  readonly servers: Servers
  /** Waits until the neighbour has answered a message that came after this call, and each before it once, in order. */
  neighbourAnswers(): Promise<void>
  /** The worker is the process that it was. */
  workerLives(): void
  /** The ids of the sandbox processes. None but on Linux. */
  sandboxPids(): Promise<number[]>
  /** Waits until the worker and its sandbox processes hold no more memory than they should. */
  memoryComesBack(): Promise<void>
  /** All that the neighbour has is as it made it. */
  neighbourIsUntouched(): Promise<void>
  /** How often events of the neighbour were interrupted and run again. */
  interruptions(): Promise<number>
  /** How long the neighbour took at most from an event's arrival to its end, in milliseconds. */
  slowestAnswer(): Promise<number>
}

/** It leaves marks wherever code can leave any, and insists on finding them again. */
const neighbourCode = `
  const secret = '${neighbourSecret}'
  const mark = Symbol.for('${neighbourSecret}')
  const places = [globalThis, Object.prototype, Function.prototype, Array.prototype, Promise, JSON, console, Error]
  for (const place of places) place[mark] = secret
  export const hooks = {
    async afterIncomingMessage({ event, client, state }) {
      if (!places.every((place) => place[mark] === secret)) throw new Error('A mark is gone')
      state.conversation.secret = secret
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: event.preview } })
    },
  }`

export async function openFixture(): Promise<Fixture> {
  const parts = new AsyncDisposableStack()
  try {
    const platform = parts.use(
      await openPlatform({ worker: false, environment: { ...limits, CHAT_RATE_LIMIT_USER: '0' } }),
    )
    const servers = parts.use(await openServers(platform))
    const worker = parts.adopt(
      await startProcess(platform, 'worker', { ...workerEnvironment, ...servers.environment }),
      async (child) => void (await child.stop()),
    )
    let ended = false
    void worker.exited.then(() => (ended = true))
    const bot = await platform.createBot(neighbourCode)
    const talk = await startConversation(platform, bot)
    parts.defer(() => talk.stop())
    await talk.allAnswered()
    return {
      platform,
      neighbour: talk.ids,
      servers,
      neighbourAnswers: talk.allAnswered,
      workerLives: () => expect(ended).toBe(false),
      sandboxPids: async () => (process.platform === 'linux' ? sandboxPids(worker.pid) : []),
      memoryComesBack: () => memoryComesBack(worker),
      neighbourIsUntouched: () => isUntouched(platform, talk.ids),
      async interruptions() {
        const rows = await platform.context.db('events').where({ bot_id: bot.id }).where('attempt', '>', 1)
        return rows.length
      },
      async slowestAnswer() {
        const rows = await platform.context.db('events').where({ bot_id: bot.id }).whereNotNull('ended_at')
        return Math.max(...rows.map(({ created_at: came, ended_at: ended }) => ended!.getTime() - came.getTime()))
      },
      [Symbol.asyncDispose]: () => parts.disposeAsync(),
    }
  } catch (error) {
    await parts.disposeAsync()
    throw error
  }
}

async function isUntouched({ context }: Platform, { botId, conversationId, userId }: NeighbourIds): Promise<void> {
  const { db } = context
  const states = await db('states').where({ bot_id: botId })
  expect(states.map(({ payload }) => payload)).toEqual([{ secret: neighbourSecret }])
  const authors = await db('messages').where({ conversation_id: conversationId }).distinct('user_id', 'direction')
  expect(authors).toHaveLength(2)
  expect(authors).toContainEqual({ user_id: userId, direction: 'incoming' })
  expect(authors).toContainEqual({ user_id: botId, direction: 'outgoing' })
  expect(await db('participants').where({ conversation_id: conversationId }).pluck('user_id')).toEqual([userId])
  expect((await db('users').where({ bot_id: botId }).pluck('id')).toSorted()).toEqual([botId, userId].toSorted())
}

interface Conversation {
  ids: NeighbourIds
  allAnswered(): Promise<void>
  stop(): Promise<void>
}

/** Says 0, 1, 2, … to the neighbour until stopped. */
async function startConversation(platform: Platform, bot: DeployedBot): Promise<Conversation> {
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  const first = await chatUser.send(conversationId, '0')
  const answers = readAnswers(platform, conversationId)
  let said = 1
  let failure: unknown
  const abort = new AbortController()
  const talking = (async () => {
    try {
      for (; !abort.signal.aborted; said += 1) {
        await sleep(pauseMilliseconds)
        await sendTo(chatUser, conversationId, String(said))
      }
    } catch (error) {
      failure = error
    }
  })()
  return {
    ids: { botId: bot.id, conversationId, userId: chatUser.userId, messageId: first.body.message.id },
    async allAnswered() {
      const last = said + 1
      const look = async () => {
        if (failure) throw failure
        return (await answers()).length
      }
      await until(`the neighbour to answer ${last}`, look, (count) => count > last)
      const texts = await answers()
      expect(texts).toEqual(texts.map((_, index) => String(index)))
    },
    async stop() {
      abort.abort()
      await talking
      if (failure) throw failure
    },
  }
}

/** A function that gives all that a bot has said in a conversation, and asks the database for what is new only. */
function readAnswers({ context }: Platform, conversationId: string): () => Promise<string[]> {
  const texts: string[] = []
  const rows = context.db('messages').where({ conversation_id: conversationId, direction: 'outgoing' })
  const read = async () => {
    const fresh = await rows.clone().orderBy(['created_at', 'id']).offset(texts.length)
    texts.push(...fresh.map(({ payload }) => String(payload['text'])))
  }
  // One after the other, or what is new would be taken twice.
  let reading = Promise.resolve()
  return async () => {
    reading = reading.then(read)
    await reading
    return texts
  }
}

async function sendTo(chatUser: ChatUser, conversationId: string, text: string): Promise<void> {
  const { status, body } = await chatUser.send(conversationId, text)
  if (status !== 201) throw new Error(`The neighbour could not be spoken to: ${JSON.stringify(body)}`)
}

async function memoryComesBack(worker: Child): Promise<void> {
  if (process.platform !== 'linux') return
  const held = async () => {
    const { own, descendants } = await residentBytes(worker.pid)
    return { worker: Math.round(own / 2 ** 20), sandbox: Math.round(descendants / 2 ** 20) }
  }
  await until(
    'the memory to come back',
    held,
    ({ worker, sandbox }) => worker < workerMegabytes && sandbox < sandboxMegabytes,
  )
}
