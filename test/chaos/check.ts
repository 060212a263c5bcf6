import { Client } from 'pg'
import { answerTo, hear, logOf, type Heard } from './bot.ts'
import { isPositionSame, type StoredPosition } from './flow-bot.ts'
import type { Talk } from './talk.ts'

/** Deviations from a run without faults. */
export interface Differences {
  /** Acknowledged messages that are missing, or without the bot's reply. */
  lost: number
  /** Messages and replies that exist more than once. */
  duplicates: number
  /** Conversations whose messages or replies are out of order. */
  outOfOrder: number
  /** Replies that differ from those of a serial run. */
  otherAnswers: number
  /** Conversations whose state, or position in flows, differs from that of a serial run. */
  otherStates: number
  /** Events that did not end as processed. */
  unprocessed: number
  /** Log lines that are missing, or that exist more than once. */
  otherLogs: number
  /** The first difference of some conversations, in words: enough to find the cause. */
  examples: string[]
}

const maxExamples = 10

interface Conversation {
  said: string[]
  answered: string[]
  state: Partial<Heard>
  /** In the bot's flows; null for a bot without flows. */
  position: StoredPosition | null
  logs: string[]
}

/** Counts the events that wait. */
export async function countWaiting(databaseUrl: string): Promise<number> {
  const [row] = await read<{ count: string }>(databaseUrl, `select count(*) from events where status = 'pending'`)
  return Number(row!.count)
}

/** Compares the database with a serial run of the acknowledged messages. */
export async function findDifferences(
  databaseUrl: string,
  talks: Talk[],
  { hasFlows = false } = {},
): Promise<Differences> {
  const found = await readConversations(databaseUrl)
  const unprocessed = await read<{
    id: string
    conversation_id: string
    status: string
    failure_reason: string | null
  }>(
    databaseUrl,
    `select id, conversation_id, status, failure_reason from events where status <> 'processed' order by id`,
  )
  const differences: Differences = {
    lost: 0,
    duplicates: 0,
    outOfOrder: 0,
    otherAnswers: 0,
    otherStates: 0,
    unprocessed: unprocessed.length,
    otherLogs: 0,
    examples: unprocessed
      .slice(0, maxExamples)
      .map((event) => `${event.id} of ${event.conversation_id}: ${event.status}, ${event.failure_reason}`),
  }
  for (const talk of talks) compare(talk, found.get(talk.conversationId), differences, hasFlows)
  return differences
}

function compare(
  { conversationId, acknowledged }: Talk,
  found: Conversation | undefined,
  differences: Differences,
  hasFlows: boolean,
) {
  const nothing: Conversation = { said: [], answered: [], state: {}, position: null, logs: [] }
  const { said, answered, state, position, logs } = found ?? nothing
  const serial = runSerially(acknowledged)
  const answeredTexts = answered.map(textOf)

  const lost = [...missing(acknowledged, said), ...missing(acknowledged, answeredTexts)]
  const duplicates = [...repeated(said), ...repeated(answeredTexts)]
  const isOrdered =
    isSame(
      said.filter(isFirst),
      acknowledged.filter((text) => said.includes(text)),
    ) &&
    isSame(
      answeredTexts.filter(isFirst),
      acknowledged.filter((text) => answeredTexts.includes(text)),
    )
  const otherAnswers = answered.filter((answer) => !serial.answers.includes(answer))
  const isStateSame =
    state.count === serial.state.count &&
    state.digest === serial.state.digest &&
    (!hasFlows || isPositionSame(position, serial.state))
  // The platform's lines of requests are the same for two uploads that took equally long.
  const ofBot = logs.filter((line) => line.startsWith(logOf('')))
  const otherLogs = { missing: missing(acknowledged.map(logOf), ofBot), repeated: repeated(ofBot) }
  const otherLines = otherLogs.missing.length + otherLogs.repeated.length

  differences.lost += lost.length
  differences.duplicates += duplicates.length
  differences.outOfOrder += isOrdered ? 0 : 1
  differences.otherAnswers += otherAnswers.length
  differences.otherStates += isStateSame ? 0 : 1
  differences.otherLogs += otherLines
  const isEqual = lost.length + duplicates.length + otherAnswers.length + otherLines === 0 && isOrdered && isStateSame
  if (isEqual || differences.examples.length >= 2 * maxExamples) return
  const how = {
    lost,
    duplicates,
    isOrdered,
    otherAnswers: otherAnswers.slice(0, 1),
    otherLogs,
    state,
    ...(hasFlows && { position }),
    serialState: serial.state,
  }
  differences.examples.push(`${conversationId} of ${acknowledged.length} messages: ${JSON.stringify(how)}`)
}

function isFirst(item: string, index: number, items: string[]): boolean {
  return items.indexOf(item) === index
}

function textOf(answer: string): string {
  return answer.split(' is ')[0]!
}

/** Handles the same texts one after another, without faults. */
function runSerially(texts: string[]): { answers: string[]; state: Partial<Heard> } {
  let state: Partial<Heard> = {}
  const answers = texts.map((text) => {
    const heard = hear(state, text)
    state = heard
    return answerTo(text, heard)
  })
  return { answers, state }
}

function missing(wanted: string[], there: string[]): string[] {
  const known = new Set(there)
  return wanted.filter((item) => !known.has(item))
}

function repeated(items: string[]): string[] {
  const known = new Set<string>()
  return items.filter((item) => known.size === known.add(item).size)
}

function isSame(one: string[], other: string[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index])
}

async function readConversations(databaseUrl: string): Promise<Map<string, Conversation>> {
  const rows = await read<Conversation & { id: string }>(
    databaseUrl,
    `select id,
       array(select payload ->> 'text' from messages
         where conversation_id = conversations.id and direction = 'incoming' order by created_at, messages.id) as said,
       array(select payload ->> 'text' from messages
         where conversation_id = conversations.id and direction = 'outgoing' order by created_at, messages.id) as answered,
       coalesce((select payload from states
         where type = 'conversation' and owner_id = conversations.id and name = 'state'), '{}') as state,
       (select payload -> 'position' from states
         where type = 'conversation' and owner_id = conversations.id and name = '$flow') as position,
       array(select message from logs where conversation_id = conversations.id order by logs.id) as logs
     from conversations`,
  )
  return new Map(rows.map(({ id, ...conversation }) => [id, conversation]))
}

/** Runs one query. */
export async function read<Row extends object>(databaseUrl: string, statement: string): Promise<Row[]> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query<Row>(statement)).rows
  } finally {
    await client.end()
  }
}
