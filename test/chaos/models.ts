import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '#shared/store/database.ts'
import { startEndpoint } from '../support/models.ts'
import { send } from '../support/platform.ts'
import { carryOut, planFaults, type FaultKind } from './faults.ts'
import { mediaBot, textBot } from './model-bots.ts'
import { openChaosPlatform, type PlatformOptions } from './platform.ts'
import { chancesFrom } from './random.ts'
import type { Talk } from './talk.ts'

export interface ModelChaosOptions extends PlatformOptions {
  bot: 'model' | 'media'
  seed: number
  conversations: number
  faults: number
  spacingMilliseconds: number
  drainMilliseconds: number
  kinds: readonly FaultKind[]
}

export interface ModelChaosReport {
  options: ModelChaosOptions
  faults: Map<FaultKind, number>
  /** Messages of users, and the answers of models that the bot asks for. */
  messages: number
  answers: number
  /** Requests that the endpoint got, and those of them that were cut before the end of their answer. */
  requests: number
  cut: number
  /** Answers that were requested again after one had ended: the worker died before it had recorded it. */
  paidTwice: number
  seconds: number
  differences: string[]
}

/** How long a fault waits for a call that it may cut. */
const patienceMilliseconds = 60_000

/**
 * Makes users talk to a bot that asks models some questions about each message, during faults. The endpoint numbers its answers
 * to each question, so the messages of the bot name the requests whose answers were recorded: none may begin after that. One that
 * began before may be of a later run, at another worker, while the first one's answer was not recorded yet.
 *
 * @param parts receives what has to be closed afterwards
 * @param tell receives the progress
 */
export async function runModelChaos(
  options: ModelChaosOptions,
  parts: AsyncDisposableStack,
  tell: (line: string) => void,
): Promise<ModelChaosReport> {
  const bot = options.bot === 'media' ? mediaBot : textBot
  const endpoint = parts.use(await startEndpoint())
  const asked = new Map<string, Date[]>()
  const ended = new Map<string, number>()
  const calls = { underWay: 0, cut: 0 }
  endpoint.script = async (response, request) => {
    const question = await bot.questionOf(request)
    const times = asked.get(question) ?? []
    asked.set(question, [...times, new Date()])
    const number = times.length + 1
    calls.underWay += 1
    response.once('close', () => {
      calls.underWay -= 1
      if (response.writableFinished) ended.set(question, (ended.get(question) ?? 0) + 1)
      else calls.cut += 1
    })
    await bot.answer(response, request, `${question}: answer ${number}`)
  }
  const media = { MODELS_IMAGE: 'local:small', MODELS_SPEECH: 'local:small', MODELS_TRANSCRIPTION: 'local:small' }
  const environment = { ...options.environment, ...endpoint.environment, ...media, MODELS_CONCURRENCY: '500' }
  const platform = await openChaosPlatform({ ...options, environment }, parts)
  const { botId, chatPath, talks } = await platform.openTalks(options.conversations, bot.code)
  const chances = chancesFrom(options.seed)
  const report: ModelChaosReport = {
    options,
    faults: new Map(),
    messages: 0,
    answers: 0,
    requests: 0,
    cut: 0,
    paidTwice: 0,
    seconds: 0,
    differences: [],
  }
  const begunAt = performance.now()
  const over = new AbortController()
  const chatUrl = `${platform.apiUrls[0]}${chatPath}`
  const talking = talks.map((talk) => speak(talk, chatUrl, over.signal, () => (report.messages += 1)))
  let seen = 0
  await carryOut(planFaults(chances, options.kinds, options.faults, options.spacingMilliseconds), platform, {
    happened(kind) {
      report.faults.set(kind, (report.faults.get(kind) ?? 0) + 1)
      tell(`${kind}; ${report.messages} messages, ${endpoint.requests.length} requests, ${calls.cut} cut`)
    },
    // A fault without a call under way would show nothing: the workers that were killed before may still be starting.
    async untilProgress() {
      const patienceEnds = performance.now() + patienceMilliseconds
      while ((calls.underWay === 0 || endpoint.requests.length <= seen) && performance.now() < patienceEnds)
        await pause(5)
      seen = endpoint.requests.length
    },
  })
  over.abort()
  const said = await Promise.all(talking)

  const db = openDatabase({ url: platform.databaseUrl(), poolSize: 1, allowSelfSigned: false })
  parts.defer(() => db.destroy())
  const deadline = Date.now() + options.drainMilliseconds
  const waiting = async () =>
    Number((await db('events').where({ bot_id: botId, status: 'pending' }).count())[0]!['count'])
  let left = await waiting()
  for (; left > 0 && Date.now() < deadline; left = await waiting()) await pause(200)
  if (left > 0) {
    const seconds = options.drainMilliseconds / 1000
    report.differences.push(
      `${left} events still waited ${seconds} s after the last message: fewer conversations may end in time`,
    )
  }
  const failed = Number((await db('events').where({ bot_id: botId, status: 'failed' }).count())[0]!['count'])
  if (failed > 0) report.differences.push(`${failed} events failed`)

  for (const [index, texts] of said.entries()) {
    const rows = await db('messages')
      .where({ conversation_id: talks[index]!.conversationId, direction: 'outgoing' })
      .orderBy(['created_at', 'id'])
      .select('payload')
    const answers = rows.map(({ payload }) => String(payload['text']))
    const expected = texts.flatMap(bot.questions)
    report.answers += expected.length
    if (answers.length !== expected.length) {
      report.differences.push(`conversation ${index}: ${answers.length} answers instead of ${expected.length}`)
    }
    // The calls of an event follow each other.
    const recorded = await db('effects')
      .join('events', 'events.id', 'event_id')
      .where('conversation_id', talks[index]!.conversationId)
      .where('operation', 'like', '%#%')
      .orderBy(['events.created_at', 'events.id', 'effects.created_at'])
      .pluck<Date[]>('effects.created_at')
    for (const [at, question] of expected.entries()) {
      const [, of, number] = /^(.*): answer (\d+)$/.exec(answers[at] ?? '') ?? []
      const recordedAt = recorded[at]
      const last = asked.get(question)?.at(-1)
      if (of !== question) report.differences.push(`${question} was answered with: ${answers[at]}`)
      else if (!recordedAt || !last || last > recordedAt) {
        const times = [recordedAt?.toISOString(), last?.toISOString()]
        report.differences.push(
          `${question}: answer ${number} was recorded and last asked for at ${times.join(' and ')}`,
        )
      }
      report.paidTwice += Math.max(0, (ended.get(question) ?? 0) - 1)
    }
  }
  report.requests = endpoint.requests.length
  report.cut = calls.cut
  if (calls.cut + report.paidTwice === 0) {
    report.differences.push('No question was asked again because of a fault, so this run shows nothing')
  }
  report.seconds = (performance.now() - begunAt) / 1000
  return report
}

/** Sends messages, one each half second, until the faults are over. @returns their texts */
async function speak(talk: Talk, chatUrl: string, over: AbortSignal, sent: () => void): Promise<string[]> {
  const { conversationId, key } = talk
  const texts: string[] = []
  while (!over.aborted) {
    const text = `${conversationId.slice(-6)} ${texts.length + 1}`
    const { status } = await send(
      'POST',
      `${chatUrl}/messages`,
      { conversationId, payload: { type: 'text', text } },
      { 'x-user-key': key },
    )
    // The platform refuses messages while too many of the bot wait: nothing is stored, and the next turn sends the text again.
    if (status !== 201 && status !== 429) throw new Error(`A message was answered with ${status}`)
    if (status === 201) {
      texts.push(text)
      sent()
    }
    await pause(500, undefined, { signal: over }).catch(() => {})
  }
  return texts
}

/** Describes a run, in lines. */
export function describeModels({ options, faults, ...report }: ModelChaosReport): string {
  const kinds = [...faults].map(([kind, count]) => `${kind} ${count}`)
  return [
    `Chaos on ${options.backEnd}, seed ${options.seed}, with a bot that ${(options.bot === 'media' ? mediaBot : textBot).does}: ` +
      (report.differences.length === 0 ? 'no difference' : 'DIFFERENCES'),
    `  ${report.messages} messages in ${options.conversations} conversations, ${kinds.join(', ')} in ${report.seconds.toFixed(0)} s`,
    `  ${report.requests} requests for ${report.answers} answers: ${report.cut} were cut, and ${report.paidTwice} had ended ` +
      'before a worker could record them; no recorded answer was requested again, unless listed here',
    ...report.differences.slice(0, 20).map((difference) => `    ${difference}`),
  ].join('\n')
}
