import { openConversation, type Conversation } from './conversation.ts'
import { echoBot, startBots } from './isobot.ts'
import { round, table } from './report.ts'
import type { Servers } from './servers.ts'
import { percentile } from './statistics.ts'
import type { SystemOptions } from './system.ts'

/** Replies of each bot; the bots take turns. */
const replies = 400
const warmUp = 50
/** Bots of each kind whose first replies are measured, in turn. */
const coldBots = 5

/** The longest that flows of a bot may be, within a flow of a thousand nodes. */
const largeNodes = 1000
const cardsOfNode = 3

/** The state of the conversation is written at the end of each event, as the position of a flow is. */
const hookBot = echoBot('event.state.session.count = (event.state.session.count ?? 0) + 1')

/** The flow waits for the next message after each reply. */
const flowBot = (cards = '', nodes = '') => `
  export const flows = [{
    id: 'main',
    start: 'first',
    nodes: [
      {
        id: 'first',
        cards: [
          ${cards}
          { id: 'say', type: 'say', message: ({ event }) => 'You said ' + event.preview },
          { id: 'ask', type: 'capture', variable: 'temp.answer' },
        ],
        next: 'first',
      },
      ${nodes}
    ],
  }]`

const tenCards = Array.from(
  { length: 10 },
  (_, index) =>
    `{ id: 'set${index}', type: 'set', values: { 'temp.n${index}': ({ event }) => event.preview.length } },`,
).join('\n')

const largeFlow = Array.from({ length: largeNodes - 1 }, (_, index) => {
  const cards = Array.from(
    { length: cardsOfNode },
    (_, card) => `{ id: 'c${card}', type: 'say', message: ({ user }) => 'Text ${index} ' + user.name }`,
  )
  return `{ id: 'n${index}', cards: [${cards.join(', ')}], next: 'n${(index * 7) % (largeNodes - 1)}' },`
}).join('\n')

/** The same large flow beside the code, as `isobot deploy` and the console upload it. */
const largeJson = [
  {
    id: 'main',
    start: 'first',
    nodes: [
      {
        id: 'first',
        cards: [
          { id: 'say', type: 'say', message: { $: "'You said ' + event.preview" } },
          { id: 'ask', type: 'capture', variable: 'temp.answer' },
        ],
        next: 'first',
      },
      ...Array.from({ length: largeNodes - 1 }, (_, index) => ({
        id: `n${index}`,
        cards: Array.from({ length: cardsOfNode }, (_, card) => ({
          id: `c${card}`,
          type: 'say',
          message: { $: `'Text ${index} ' + user.name` },
        })),
        next: `n${(index * 7) % (largeNodes - 1)}`,
      })),
    ],
  },
]

const size = `${largeNodes} nodes and ${largeNodes * cardsOfNode} cards`

const bots: Record<string, { code: string; flows?: object[] }> = {
  'a hook with state': { code: hookBot },
  'a flow': { code: flowBot() },
  'a flow with ten cards more': { code: flowBot(tenCards) },
  [`a flow of ${size} in code`]: { code: flowBot('', largeFlow) },
  [`a flow of ${size} as JSON`]: { code: '', flows: largeJson },
}

interface Measured {
  name: string
  /** Milliseconds of the first reply, in a new isolate: the median of several bots. */
  first: number
  /** Milliseconds of each reply, from the shortest. */
  sorted: number[]
}

/** Measures lone replies of the same bot as a hook and as flows, in turn. */
export async function measureFlows(servers: Servers): Promise<Measured[]> {
  await using parts = new AsyncDisposableStack()
  const options: SystemOptions = { servers, backEnd: 'postgres', conversations: 1, nodeOptions: [], parts }
  const codes = Object.entries(bots)
  const started = await startBots(
    'flows',
    // The first one is left out: the worker's first run of all compiles parts of the platform.
    [
      { code: hookBot, conversations: 1 },
      ...Array.from({ length: coldBots }, () => codes.map(([, bot]) => ({ ...bot, conversations: 1 }))).flat(),
    ],
    options,
  )
  const conversations: Conversation[] = []
  for (const { chatUrl, chats } of started.bots) conversations.push(await openConversation(chatUrl, chats[0]!))
  const [warming, ...others] = conversations
  await timeReply(warming!)
  const firsts: number[] = []
  for (const conversation of others) firsts.push(await timeReply(conversation))
  const talks = codes.map(([name], kind) => {
    const own = firsts.filter((_, index) => index % codes.length === kind).toSorted((a, b) => a - b)
    return { name, first: percentile(own, 50), sorted: [] as number[], conversation: others[kind]! }
  })
  for (let count = -warmUp; count < replies; count++) {
    for (const { conversation, sorted } of talks) {
      const took = await timeReply(conversation)
      if (count >= 0) sorted.push(took)
    }
  }
  for (const { sorted } of talks) sorted.sort((a, b) => a - b)
  return talks
}

async function timeReply(conversation: Conversation): Promise<number> {
  const begin = performance.now()
  await conversation.say()
  return performance.now() - begin
}

/** One line on the load. */
export function describeFlows(): string {
  return `Lone replies of the same bot as a hook and as flows, ${replies} of each, in turn; target: p50 at most 1.15 times`
}

/** Makes the Markdown table of replies. */
export function flowsTable(measured: Measured[]): string {
  const floor = percentile(measured[0]!.sorted, 50)
  return table(
    ['bot', 'first reply, ms', 'p50 ms', 'p99 ms', 'p50, ratio'],
    measured.map(({ name, first, sorted }) => [
      name,
      round(first),
      round(percentile(sorted, 50)),
      round(percentile(sorted, 99)),
      (percentile(sorted, 50) / floor).toFixed(2),
    ]),
  )
}
