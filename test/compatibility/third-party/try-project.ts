import { Client } from '@botpress/chat'
import type { Connection } from '../../../cli/connection.ts'
import { sampleOf, type Schema } from '../catalogue/sample.ts'
import { hostsIn, recordsOf } from '../catalogue/try-integration.ts'
import type { BuiltProject } from './build-project.ts'
import type { ThirdPartyProject } from './projects.ts'
import { uploadBot, uploadIntegration } from './upload.ts'

/** The behaviour of a project, each field in words; empty where the project has no such part. */
export interface ThirdPartyTrial {
  loads: string
  register: string
  handler: string
  actions: string
  messages: string
  /** The reasons of failures, and the hosts that the code asked for; none is granted. */
  remarks: string[]
}

/** Longer than the wall time of a run. */
const requestMilliseconds = 120_000
const pollMilliseconds = 500
/** Longer than all attempts of an event take, whose pauses are 1, 2 and 4 s. */
const settleMilliseconds = 60_000

/** Bodies that a stranger may send to a webhook: none, and values that break careless code. */
const bodies = [
  '',
  JSON.stringify({ type: '__proto__', text: ['\u0000', null, { length: -1 }], constructor: { prototype: 1 } }),
]

/** Deploys a project and calls each of its parts without the service behind it. */
export async function tryProject(
  api: Connection,
  project: ThirdPartyProject,
  built: BuiltProject,
): Promise<ThirdPartyTrial> {
  const trial: ThirdPartyTrial = { loads: 'yes', register: '', handler: '', actions: '', messages: '', remarks: [] }
  const tried = new Trial(api, built, trial)
  await tried.run(project.kind === 'bot')
  return trial
}

class Trial {
  readonly #api: Connection
  readonly #built: BuiltProject
  readonly #trial: ThirdPartyTrial
  #botId = ''
  #integrationId = ''

  constructor(api: Connection, built: BuiltProject, trial: ThirdPartyTrial) {
    this.#api = api
    this.#built = built
    this.#trial = trial
  }

  async run(isBot: boolean): Promise<void> {
    if (isBot) this.#botId = await uploadBot(this.#api, this.#built)
    else {
      this.#integrationId = await uploadIntegration(this.#api, this.#built)
      const { bot } = await this.#api.ask<'createBot'>('POST', '/v1/admin/bots', { body: {} })
      this.#botId = bot.id
    }
    try {
      await (isBot ? this.#tryBot() : this.#tryIntegration())
      const hosts = hostsIn(await recordsOf(this.#api, this.#botId))
      if (hosts.length > 0) this.#trial.remarks.push(`asks ${hosts.join(', ')}`)
    } finally {
      await this.#api.ask<'deleteBot'>('DELETE', `/v1/admin/bots/${this.#botId}`)
      // Another project may have the same name and version.
      const path = `/v1/admin/integrations/${this.#integrationId}`
      if (!isBot) await this.#api.ask<'deleteIntegration'>('DELETE', path)
    }
  }

  async #tryIntegration(): Promise<void> {
    const configuration = sampleOf(configurationOf(this.#built))
    const { bot } = await this.#api.ask<'updateBot'>('PUT', `/v1/admin/bots/${this.#botId}`, {
      body: { integrations: { tried: { integrationId: this.#integrationId, enabled: true, configuration } } },
    })
    const { status, statusReason, webhookUrl } = bot.integrations['tried']!
    this.#trial.register = status === 'registered' ? 'yes' : 'refuses'
    if (status !== 'registered') this.#remark('register', statusReason || status)
    const statuses: string[] = []
    for (const body of bodies) {
      const response = await fetch(webhookUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(requestMilliseconds),
      })
      statuses.push(String(response.status))
      await response.text()
    }
    this.#trial.handler = statuses.join(', ')
    await this.#callActions('tried:')
    await this.#sendMessages()
  }

  async #tryBot(): Promise<void> {
    await this.#callActions('')
    const { bot } = await this.#api.ask<'getBot'>('GET', `/v1/admin/bots/${this.#botId}`)
    const chat = Object.values(bot.integrations).find(({ name }) => name === 'chat')!
    const client = await Client.connect({ apiUrl: chat.webhookUrl })
    const { conversation } = await client.createConversation({})
    await client.createMessage({ conversationId: conversation.id, payload: { type: 'text', text: 'hello' } })
    this.#trial.handler = countsOf(await this.#outcomesOf(conversation.id))
    const { messages } = await client.listMessages({ conversationId: conversation.id })
    this.#trial.messages = `${messages.length - 1} replies`
  }

  /** Calls each action with the least input that its schema accepts. */
  async #callActions(prefix: string): Promise<void> {
    const actions = (this.#built.definition['actions'] ?? {}) as Record<string, { input?: { schema?: Schema } }>
    const outcomes: string[] = []
    for (const [name, { input }] of Object.entries(actions)) {
      const body = { type: `${prefix}${name}`, input: sampleOf({ type: 'object', ...input?.schema }) ?? {} }
      const problem = await this.#request('/v1/chat/actions', body)
      outcomes.push(problem === '' ? 'answered' : 'failed')
      if (problem !== '') this.#remark(name, problem)
    }
    this.#trial.actions = countsOf(outcomes)
  }

  /** Sends a message of each type to a conversation of each channel. */
  async #sendMessages(): Promise<void> {
    interface Channel {
      messages?: Record<string, { schema?: Schema }>
      conversation?: { tags?: Record<string, unknown> }
    }
    const channels = (this.#built.definition['channels'] ?? {}) as Record<string, Channel>
    const outcomes: string[] = []
    const conversations: string[] = []
    for (const [channel, { messages = {}, conversation = {} }] of Object.entries(channels)) {
      // A message that fails is tried again and holds up those after it: each gets a conversation of its own.
      for (const [type, { schema }] of Object.entries(messages)) {
        const tags = Object.fromEntries(Object.keys(conversation.tags ?? {}).map((tag) => [tag, `none-${type}`]))
        const as = { 'x-integration-id': this.#integrationId }
        const created = await this.#ask('/v1/chat/conversations', { channel, tags }, as)
        const conversationId = (created.body as { conversation?: { id: string } }).conversation?.id ?? ''
        const payload = sampleOf({ type: 'object', ...schema }) ?? {}
        const sent = { conversationId, userId: this.#botId, type, payload, tags: {} }
        const problem = created.ok ? await this.#request('/v1/chat/messages', sent) : messageOf(created.body)
        if (problem === '') conversations.push(conversationId)
        else {
          outcomes.push('refused')
          this.#remark(type, problem)
        }
      }
    }
    const handled = await Promise.all(conversations.map((conversationId) => this.#outcomesOf(conversationId)))
    this.#trial.messages = countsOf([...outcomes, ...handled.flat()])
  }

  /** Waits until the messages of a conversation are handled. */
  async #outcomesOf(conversationId: string): Promise<string[]> {
    const deadline = Date.now() + settleMilliseconds
    for (;;) {
      const { events } = await this.#api.ask<'listBotEvents'>('GET', `/v1/admin/bots/${this.#botId}/events`, {
        query: { conversationId, pageSize: 100 },
      })
      const isOver = events.length > 0 && events.every(({ status }) => status !== 'pending')
      if (!isOver && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, pollMilliseconds))
        continue
      }
      for (const { type, failureReason } of events) if (failureReason) this.#remark(type, failureReason)
      return events.map(({ status }) => status)
    }
  }

  /** @returns the problem; empty without one */
  async #request(path: string, body: unknown, headers: Record<string, string> = {}): Promise<string> {
    const answer = await this.#ask(path, body, headers)
    return answer.ok ? '' : messageOf(answer.body)
  }

  async #ask(path: string, body: unknown, headers: Record<string, string>): Promise<{ ok: boolean; body: unknown }> {
    const { url, token } = this.#api.profile
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'x-bot-id': this.#botId,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(requestMilliseconds),
    })
    return { ok: response.ok, body: await response.json() }
  }

  #remark(subject: string, problem: string): void {
    const [line = ''] = problem.split('\n', 1)
    const isKnown = this.#trial.remarks.some((remark) => remark.endsWith(`: ${line.slice(0, 160)}`))
    if (!isKnown) this.#trial.remarks.push(`${subject}: ${line.slice(0, 160)}`)
  }
}

function configurationOf({ definition }: BuiltProject): Schema {
  const { schema = {} } = (definition['configuration'] ?? {}) as { schema?: Schema }
  return { type: 'object', ...schema }
}

function messageOf(body: unknown): string {
  return (body as { message?: string }).message ?? 'no message'
}

/** For instance "3 answered, 1 failed". */
function countsOf(outcomes: string[]): string {
  const counts = Map.groupBy(outcomes, (outcome) => outcome)
  return Array.from(counts, ([outcome, all]) => `${all.length} ${outcome}`).join(', ')
}
