import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { chancesFrom, type Chances } from '../chaos/random.ts'
import { createChatUser } from '../support/chat-client.ts'
import { send, type Answer } from '../support/platform.ts'
import type { FuzzPlatform } from './platform.ts'
import { randomFlows, sayings } from './random-flows.ts'
import type { Credentials } from './tenant.ts'
import { mutate, oddTexts } from './values.ts'

/** The outcome of generated flows and of conversations with their bots. */
export interface FlowReport {
  /** Uploads by their outcome. */
  accepted: number
  refused: number
  /** Events by their status. */
  events: Map<string, number>
  /** Descriptions of wrong answers and events, with the number of the flows. */
  faults: string[]
}

const code = `export const actions = { echo: ({ input }) => input, fail: () => { throw new Error('generated') } }`

/** Conversations with each bot, and messages in each of them. */
const conversations = 2
const messages = 4
/** An event of these flows takes less, unless a worker has lost it. */
const eventMilliseconds = 30_000

/**
 * Uploads generated flows, of which some are changed into invalid ones, and talks with the bots that accept them.
 *
 * @param only the flows with this number alone
 */
export async function fuzzFlows(
  { url, databaseUrl }: FuzzPlatform,
  owner: Credentials,
  { seed, count, only }: { seed: number; count: number; only?: number | undefined },
): Promise<FlowReport> {
  const report: FlowReport = { accepted: 0, refused: 0, events: new Map(), faults: [] }
  const database = new Client({ connectionString: databaseUrl })
  await database.connect()
  try {
    for (let number = only ?? 0; number < (only === undefined ? count : only + 1); number += 1) {
      const chances = chancesFrom(seed * 1_000_003 + number)
      const isValid = number % 2 === 0
      const flows = isValid ? randomFlows(chances) : mutated(randomFlows(chances), chances)
      const note = (what: string) => report.faults.push(`flows ${number}: ${what}`)
      const answer = await send('POST', `${url}/v1/admin/bots`, { name: `flows-${number}`, code, flows }, owner)
      if (answer.status !== 200) {
        report.refused += 1
        const fault = faultOfRefusal(answer, isValid)
        if (fault !== undefined) note(fault)
        continue
      }
      report.accepted += 1
      const { id, integrations } = answer.body.bot
      await talk(integrations.chat.webhookUrl.replace(/^https?:\/\/[^/]+/, url), chances)
      for (const event of await endedEvents(database, id, note)) {
        report.events.set(event.status, (report.events.get(event.status) ?? 0) + 1)
        const { type, failure_reason: reason } = event
        if (reason !== null && !causes.some((cause) => cause.test(reason))) note(`${type}: ${reason}`)
      }
      await send('DELETE', `${url}/v1/admin/bots/${id}`, undefined, owner)
    }
  } finally {
    await database.end()
  }
  return report
}

function mutated(flows: unknown, chances: Chances): unknown {
  const changed = mutate(flows, chances)
  return chances.between(0, 1) < 0.6 ? mutated(changed, chances) : changed
}

/** The fault of a refusal, which must name the place in the flow or the field of the request. */
function faultOfRefusal({ status, body }: Answer, isValid: boolean): string | undefined {
  const shown = `${status} ${JSON.stringify(body)}`.slice(0, 500)
  if (isValid) return `valid ones are refused: ${shown}`
  if (status !== 400 && status !== 413) return `an unexpected answer: ${shown}`
  const { metadata, message } = body as { metadata?: { flow?: string }; message: string }
  if (metadata?.flow !== undefined && message.includes(`'${metadata.flow}'`)) return undefined
  return /^(body )?(\/?flows|the flows of a bot|there are two flows)|nested more than|cannot be stored/.test(message)
    ? undefined
    : `a refusal without a place: ${shown}`
}

async function talk(chatUrl: string, chances: Chances): Promise<void> {
  for (let index = 0; index < conversations; index += 1) {
    const user = await createChatUser(chatUrl)
    const conversationId = await user.createConversation()
    for (let said = 0; said < messages; said += 1) {
      const text = chances.between(0, 1) < 0.8 ? chances.pick(sayings) : chances.pick(oddTexts)
      await user.send(conversationId, text)
      if (chances.between(0, 1) < 0.1) await user.ask('POST', '/events', { conversationId, payload: { text } })
    }
  }
}

interface Ended {
  type: string
  status: string
  failure_reason: string | null
}

async function endedEvents(database: Client, botId: string, note: (what: string) => void): Promise<Ended[]> {
  const deadline = Date.now() + eventMilliseconds
  for (;;) {
    const { rows } = await database.query<Ended>(
      'select type, status, failure_reason from events where bot_id = $1 order by created_at',
      [botId],
    )
    const waiting = rows.filter(({ status }) => status === 'pending')
    if (waiting.length === 0) return rows
    if (Date.now() > deadline) {
      note(`${waiting.length} events do not end`)
      return rows
    }
    await pause(20)
  }
}

/** The errors that the generated flows may cause, after the place; an error of the engine itself has other words. */
const causes = [
  'FlowLimitError: The flow loops|FlowLimitError: An event may run|FlowLimitError: Flows call',
  'NoConversationError: ',
  'ApiError: ',
  'Error: (null|generated|The question is empty|The answer of the model is no JSON|The request cannot be read|.* may not be requested)',
  'ReferenceError: missing is not defined',
  "TypeError: Cannot read properties of (undefined|null) \\(reading '(y|length|x)'\\)",
  "TypeError: (event.state must be an object|The variables of '\\w+' cannot|The value cannot be converted to JSON)",
  'TypeError: (The options of a choice must|Each option of a choice has|A card (waits for|delays an event by))',
  'TypeError: (Converting circular structure to JSON|Do not know how to serialize a BigInt|The argument of client\\.\\w+ cannot|The body cannot)',
  'TypeError: Cannot (assign to read only property|add property|delete property|convert a)',
  'result: event.state (must be an object|cannot be converted to JSON)',
  'The variables of the flows in progress have',
].map((words) => new RegExp(`(^|: )(${words})`))
