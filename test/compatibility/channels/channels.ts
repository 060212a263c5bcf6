import type { Connection } from '../../../cli/connection.ts'
import { deployIntegrations } from '../stand-in/deploy-integrations.ts'
import { setStates } from '../stand-in/set-states.ts'
import type { VendorRequest, Vendors } from '../stand-in/stand-in.ts'
import { writeMeasured } from '../write-measured.ts'
import { channels, secret, type Channel } from './vendors.ts'

/** A message of the bot, with the words that the service has to receive. */
interface Said {
  name: 'text' | 'image' | 'choice' | 'card'
  type: string
  payload: Record<string, unknown>
  words: string[]
}

const picture = 'https://files.example/picture.png'

/** The bot's answers to the first message of a person. */
const answers: Said[] = [
  { name: 'text', type: 'text', payload: { text: 'You said hello' }, words: ['You said hello'] },
  { name: 'image', type: 'image', payload: { imageUrl: picture }, words: [picture] },
  {
    name: 'choice',
    type: 'choice',
    payload: {
      text: 'Which one?',
      options: [
        { label: 'First', value: 'first' },
        { label: 'Second', value: 'second' },
      ],
    },
    words: ['Which one?', 'First', 'Second'],
  },
  {
    name: 'card',
    type: 'card',
    payload: {
      title: 'A card',
      subtitle: 'of two lines',
      imageUrl: 'https://files.example/card.png',
      actions: [{ action: 'postback', label: 'Take it', value: 'taken' }],
    },
    words: ['A card', 'Take it'],
  },
]

/** Answers the first message with all of them, and each later one with its own text. */
const botCode = `
  const answers = ${JSON.stringify(answers.map(({ type, payload }) => ({ type, payload })))}
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const { conversationId, preview } = event
      const own = [{ type: 'text', payload: { text: 'You said ' + preview } }]
      for (const answer of preview === 'hello' ? answers : own) await client.createMessage({ conversationId, ...answer })
    },
  }`

const sayMilliseconds = 20_000
const pollMilliseconds = 50

/**
 * Deploys the messaging integrations of a checkout of the public repository, unmodified, and holds a conversation by way of
 * each: a message that the service delivers reaches a bot, and its answers reach the service. The services are a stand-in on
 * this machine.
 *
 * @param writes whether to write the results into the documentation too
 */
export async function measureChannels(source: string, writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  let current: Talk | undefined
  const hosts = new Set(Object.values(channels).flatMap((channel) => channel.hosts))
  const vendors: Vendors = Object.fromEntries(
    [...hosts].map((host) => [host, (request: VendorRequest) => current!.answer(request)]),
  )
  const names = new Set(Object.keys(channels))
  const { api, version } = await deployIntegrations(source, names, { vendors, parts, otherSecrets: secret })
  const rows: string[] = []
  let [passed, all] = [0, 0]
  for (const [name, channel] of Object.entries(channels)) {
    current = new Talk(channel)
    const outcomes = await tryChannel(api, name, current)
    const problems = outcomes.filter(([, problem]) => problem !== '')
    passed += outcomes.length - problems.length
    all += outcomes.length
    const working = outcomes.filter(([, problem]) => problem === '').map(([what]) => what)
    const failing = problems.map(([what, problem]) => `${what}: ${problem.replaceAll(/[|\s]+/g, ' ').slice(0, 300)}`)
    rows.push(`| ${name} | ${working.join(', ')} | ${failing.join('; ')} |`)
    console.log(rows.at(-1))
  }
  const summary = `${new Date().toISOString().slice(0, 10)}, \`bp\` ${version}: ${passed} of ${all} work.`
  console.log(summary)
  if (passed < all) process.exitCode = 1
  if (writes) {
    const lines = [summary, '', '| Integration | Works | Fails |', '| --- | --- | --- |', ...rows]
    await writeMeasured('catalogue.md', lines, 'measured channels')
  }
}

/** A conversation with a person at a service. */
class Talk {
  readonly channel: Channel
  /** The messages that the service has received, as text. */
  readonly sent: string[] = []
  #said = 0

  constructor(channel: Channel) {
    this.channel = channel
  }

  answer(request: VendorRequest) {
    if (this.channel.sends(request)) this.sent.push(textOf(request))
    return this.channel.answer(request, this.sent.length)
  }

  /** Delivers a message of the person, as the service does. */
  async say(webhookUrl: string, text: string): Promise<void> {
    const { query, ...delivery } = this.channel.deliver(text, ++this.#said)
    const url = `${webhookUrl}?${new URLSearchParams(query).toString()}`
    const response = await fetch(url, { method: 'POST', ...delivery })
    if (!response.ok) throw new Error(`the webhook answers ${response.status}: ${await response.text()}`)
  }

  /** Waits until the service has received the words, after the first `from` messages. @returns the count of messages then */
  async receives(words: string[], from: number): Promise<number> {
    const deadline = Date.now() + sayMilliseconds
    while (Date.now() < deadline) {
      const received = this.sent.slice(from)
      const isThere = words.every((word) => received.some((text) => text.includes(word)))
      if (isThere) return from + 1 + received.findIndex((text) => text.includes(words[0]!))
      await new Promise((resolve) => setTimeout(resolve, pollMilliseconds))
    }
    throw new Error(`the service received ${JSON.stringify(this.sent.slice(from))}`)
  }
}

/** The body of a request with its parameters, decoded. */
function textOf({ body, type = '', query }: VendorRequest): string {
  const decoded = type.includes('form-urlencoded') ? [...new URLSearchParams(body).values()].join('\n') : body
  return `${decoded}\n${[...query.values()].join('\n')}`.replaceAll('\\/', '/')
}

/** @returns each step, with its problem or none */
async function tryChannel(api: Connection, name: string, talk: Talk): Promise<[string, string][]> {
  const { channel } = talk
  const { integrations } = await api.ask<'listIntegrations'>('GET', '/v1/admin/integrations', { query: { name } })
  const integrationId = integrations[0]!.id
  await api.ask<'updateIntegration'>('PUT', `/v1/admin/integrations/${integrationId}`, {
    body: { permissions: { net: channel.hosts } },
  })
  const { bot } = await api.ask<'createBot'>('POST', '/v1/admin/bots', { body: { name: 'Channels', code: botCode } })
  const outcomes: [string, string][] = []
  const note = async (step: string, run: () => Promise<unknown>) => {
    const problem = await run().then(
      () => '',
      (error: Error) => error.message,
    )
    outcomes.push([step, problem])
  }
  try {
    const { configuration, configurationType } = channel
    const given = { integrationId, enabled: true, configuration, ...(configurationType && { configurationType }) }
    const install = async () => {
      const body = { integrations: { [name]: given } }
      const { bot: installed } = await api.ask<'updateBot'>('PUT', `/v1/admin/bots/${bot.id}`, { body })
      return installed.integrations[name]!
    }
    if (channel.states) {
      await install()
      await setStates(api, { botId: bot.id, integrationId }, channel.states)
    }
    const { status, statusReason, webhookUrl } = await install()
    await note('register', async () => {
      if (status !== 'registered') throw new Error(`it is ${status}: ${statusReason}`)
    })
    await note('message', () => talk.say(webhookUrl, 'hello'))
    let from = 0
    for (const { name: step, words: usual } of answers) {
      const words = step === 'text' ? usual : (channel.words?.[step] ?? usual)
      const isUnsupported = step !== 'text' && channel.words?.[step] === null
      if (isUnsupported) continue
      await note(step, async () => {
        from = await talk.receives(words, from)
      })
    }
    await note('a second message', async () => {
      await talk.say(webhookUrl, 'goodbye')
      await talk.receives(['You said goodbye'], from)
    })
  } finally {
    await api.ask<'deleteBot'>('DELETE', `/v1/admin/bots/${bot.id}`)
  }
  return outcomes
}
