import { setTimeout as pause } from 'node:timers/promises'
import { Client as Database } from 'pg'
import { send } from '../support/platform.ts'
import { carryOut, planFaults, type FaultKind } from './faults.ts'
import { openChaosPlatform, type ChaosPlatform, type PlatformOptions } from './platform.ts'
import { inboxRoute } from './inbox.ts'
import { chancesFrom, type Chances } from './random.ts'

export interface HandoverChaosOptions extends PlatformOptions {
  seed: number
  /** Conversations at once. Each has handovers, one after the other, until the faults are over. */
  conversations: number
  faults: number
  kinds: readonly FaultKind[]
  /** Milliseconds between two faults, on average. */
  spacingMilliseconds: number
}

export interface HandoverChaosReport {
  options: HandoverChaosOptions
  faults: Map<FaultKind, number>
  seconds: number
  /** Handovers by their end, and those whose member lost the role meanwhile. */
  handovers: { resolved: number; expired: number; released: number; throughInbox: number }
  /** Times at which two agents took a handover at once, and times at which exactly one got it. */
  claims: { all: number; won: number }
  /** Messages of users, bot and agents. */
  messages: number
  differences: string[]
}

/** Says what it receives, hands the conversation over on request, itself or through the inbox, and says when it has it back. */
const code = `${inboxRoute}
export const hooks = {
  async afterIncomingMessage({ event, client, state }) {
    const { conversationId, preview } = event
    const say = (text) => client.createMessage({ conversationId, type: 'text', payload: { text } })
    const [word, round] = preview.split(' ')
    // First: a repeated run finds the tags that it has written.
    if (word.startsWith('ask')) {
      await beginSession(client, event, [word, round])
      return say('fetching ' + round)
    }
    if (await copy(client, event)) return
    if (word === 'say') return say('bot ' + round)
    state.conversation.round = round
    await client.handover({ conversationId, title: round, ...(word === 'expire' && { expiresInSeconds: 2 }) })
    await say('fetching ' + round)
  },
  async beforeIncomingEvent({ event, client, state }) {
    if (event.type === 'inbox:hitlStopped') return endSession(client, await tagsOf(client, event.payload.conversationId))
    if (event.type !== 'handover_ended') return
    const text = event.payload.status + ' ' + state.conversation.round
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
  },
}`

/** How long a request is repeated, and how long an answer of the bot may take. */
const patienceMilliseconds = 120_000
const answerMilliseconds = 10_000

/** An agent of the workspace. */
interface Agent {
  accountId: string
  headers: Record<string, string>
}

/** A conversation, its agents, and the texts that it must have. */
interface Scene {
  conversationId: string
  key: string
  agents: [Agent, Agent]
  texts: string[]
  /** The texts that the conversations of the inbox must have, by their ids. Absent: the bot hands over itself. */
  sessions?: Map<string, string[]>
  /** Texts that the bot's code must not have seen. */
  withheld: number
}

type Report = Pick<HandoverChaosReport, 'handovers' | 'claims' | 'differences'>

/**
 * Makes users, a bot and agents write in conversations that are handed over and back during faults, and compares the
 * conversations with those of a run without any.
 *
 * @param parts receives what has to be closed afterwards
 * @param tell receives the progress, periodically
 */
export async function runHandoverChaos(
  options: HandoverChaosOptions,
  parts: AsyncDisposableStack,
  tell: (line: string) => void,
): Promise<HandoverChaosReport> {
  const platform = await openChaosPlatform(options, parts)
  const { botId, chatPath, talks } = await platform.openTalks(options.conversations, code)
  const scenes: Scene[] = []
  for (const { conversationId, key } of talks) {
    const agents: Scene['agents'] = [await createAgent(platform), await createAgent(platform)]
    const isOfInbox = scenes.length % 2 === 1
    scenes.push({ conversationId, key, agents, texts: [], withheld: 0, ...(isOfInbox && { sessions: new Map() }) })
  }
  const report: HandoverChaosReport = {
    options,
    faults: new Map(),
    seconds: 0,
    handovers: { resolved: 0, expired: 0, released: 0, throughInbox: 0 },
    claims: { all: 0, won: 0 },
    messages: 0,
    differences: [],
  }
  const begunAt = performance.now()
  const end = new AbortController()
  const requests = openRequests(platform, chancesFrom(options.seed + 1), { botId, chatPath })
  await installInbox(requests)
  const scenesEnded = Promise.all(
    scenes.map(async (scene) => {
      for (let round = 1; !end.signal.aborted; round++) await handOver(scene, round, requests, report)
    }),
  )
  const kinds = options.kinds.filter((kind) => kind !== 'Redis restarted' || platform.redis)
  const plan = planFaults(chancesFrom(options.seed), kinds, options.faults, options.spacingMilliseconds)
  const happening = carryOut(plan, platform, {
    happened(kind) {
      report.faults.set(kind, (report.faults.get(kind) ?? 0) + 1)
      tell(`${report.claims.won} of ${report.claims.all} claims had one winner; ${kind}`)
    },
    untilProgress: () => Promise.resolve(),
  }).finally(() => end.abort())
  await Promise.all([scenesEnded, happening])
  report.seconds = (performance.now() - begunAt) / 1000
  report.messages = scenes.flatMap(conversationsOf).reduce((sum, { texts }) => sum + texts.length, 0)
  report.differences.push(...(await findDifferences(platform.databaseUrl(), scenes)))
  return report
}

async function createAgent({ apiUrls: [apiUrl], headers }: ChaosPlatform): Promise<Agent> {
  const admin = `${apiUrl}/v1/admin`
  const email = `${crypto.randomUUID()}@example.com`
  const { body: invited } = await send('POST', `${admin}/workspace-members`, { email, role: 'agent' }, headers)
  const accepted = await send('POST', `${admin}/account/invitation`, {}, { 'x-invitation': invited.invitation })
  const { id: accountId, token } = accepted.body as { id: string; token: string }
  return { accountId, headers: { ...headers, authorization: `Bearer ${token}` } }
}

/** Requests that are repeated, at any process, until they have one of the expected statuses. */
interface Requests {
  /** A message of the user. */
  say(scene: Scene, text: string): Promise<void>
  /** Waits for a message of the bot. */
  hear(scene: Scene, text: string): Promise<void>
  admin(method: string, path: string, options: AdminRequest): Promise<{ status: number; body: string }>
  readonly administrator: Record<string, string>
  readonly botPath: string
  readonly chances: Chances
}

interface AdminRequest {
  by: Record<string, string>
  body?: object
  expected: number[]
  key?: string
}

function openRequests(
  { apiUrls, headers, databaseUrl }: ChaosPlatform,
  chances: Chances,
  { botId, chatPath }: { botId: string; chatPath: string },
): Requests {
  async function request(method: string, path: string, { by, body, expected, key }: AdminRequest) {
    const deadline = performance.now() + patienceMilliseconds
    for (;;) {
      const answer = await fetch(chances.pick(apiUrls) + path, {
        method,
        headers: {
          'content-type': 'application/json',
          ...by,
          ...(key !== undefined && { 'idempotency-key': key.replaceAll(' ', '-') }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(answerMilliseconds),
      })
        .then(async (response) => ({ status: response.status, body: await response.text() }))
        .catch(() => ({ status: 0, body: '' }))
      const isBusy = answer.body.includes('ResourceLockedConflict') || answer.body.includes('try again in a moment')
      if (expected.includes(answer.status) && !isBusy) return answer
      const isFinal = [400, 401, 403, 404].includes(answer.status)
      if (isFinal || performance.now() > deadline) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
      await pause(chances.between(0, 400))
    }
  }

  return {
    chances,
    administrator: headers,
    botPath: `/v1/admin/bots/${botId}`,
    admin: request,
    async say(scene, text) {
      const { conversationId, key } = scene
      const body = { conversationId, payload: { type: 'text', text } }
      const by = { 'x-user-key': key }
      await request('POST', `${chatPath}/messages`, { by, body, expected: [201], key: `${conversationId} ${text}` })
      scene.texts.push(text)
    },
    async hear(scene, text) {
      const deadline = performance.now() + patienceMilliseconds
      const path = `${chatPath}/conversations/${scene.conversationId}/messages`
      for (;;) {
        const { body } = await request('GET', path, { by: { 'x-user-key': scene.key }, expected: [200] })
        const { messages } = JSON.parse(body) as { messages: { payload: { text: string } }[] }
        if (messages.some(({ payload }) => payload.text === text)) break
        if (performance.now() > deadline) {
          const events = await newestEvents(databaseUrl(), scene.conversationId)
          throw new Error(`There is no "${text}" in ${scene.conversationId}, whose newest events are ${events}`)
        }
        await pause(100)
      }
      scene.texts.push(text)
    },
  }
}

/** The newest events of a conversation with their outcomes, for a report of what is missing. */
async function newestEvents(databaseUrl: string, conversationId: string): Promise<string> {
  const database = new Database({ connectionString: databaseUrl })
  await database.connect()
  try {
    const { rows } = await database.query(
      `select id, type, status, attempt, failures, failure_reason, handover_id, created_at, ended_at from events
       where conversation_id = $1 order by created_at desc, id desc limit 5`,
      [conversationId],
    )
    return JSON.stringify(rows)
  } finally {
    await database.end()
  }
}

async function installInbox({ admin, administrator: by, botPath }: Requests): Promise<void> {
  const found = await admin('GET', '/v1/admin/hub/integrations/inbox/latest', { by, expected: [200] })
  const { integration } = JSON.parse(found.body) as { integration: { id: string } }
  const body = { integrations: { inbox: { integrationId: integration.id } } }
  await admin('PUT', botPath, { by, body, expected: [200] })
}

/** One handover: the bot begins it, agents answer or its time ends, and the bot answers again. */
async function handOver(scene: Scene, round: number, requests: Requests, report: Report): Promise<void> {
  const { chances } = requests
  const { sessions } = scene
  await requests.say(scene, `say ${round}`)
  await requests.hear(scene, `bot ${round}`)
  const expires = chances.between(0, 1) < 0.2
  const request = `${sessions ? (expires ? 'ask-briefly' : 'ask') : expires ? 'expire' : 'help'} ${round}`
  await requests.say(scene, request)
  await requests.hear(scene, `fetching ${round}`)
  const handover = await findHandover(scene, round, requests)
  if (sessions) {
    sessions.set(handover.conversationId, [request])
    report.handovers.throughInbox++
  }
  if (expires) {
    await requests.hear(scene, `${sessions ? 'stopped' : 'expired'} ${round}`)
    report.handovers.expired++
    return
  }
  const place = { scene, ...handover }
  let member = await race(place, requests, report)
  if (!member) return
  const other = scene.agents.find((agent) => agent !== member)!
  await answer(place, { round, part: 1, member }, requests)
  if (chances.between(0, 1) < 0.3) {
    await setRole(member, 'viewer', requests)
    await takeOver(place, other, requests, [200])
    await setRole(member, 'agent', requests)
    member = other
    report.handovers.released++
  }
  await answer(place, { round, part: 2, member }, requests)
  // A repeated request finds that the handover has ended.
  const path = `${requests.botPath}/handovers/${handover.id}/resolve`
  await requests.admin('POST', path, { by: member.headers, body: {}, expected: [200, 409] })
  await requests.hear(scene, `${sessions ? 'stopped' : 'resolved'} ${round}`)
  report.handovers.resolved++
}

/** A handover, and the conversation in which agents answer: that of the user, or one of the inbox. */
interface Place {
  scene: Scene
  id: string
  conversationId: string
}

/** Finds the handover of a round. One that ends by itself may have ended. */
async function findHandover(
  scene: Scene,
  round: number,
  requests: Requests,
): Promise<Pick<Place, 'id' | 'conversationId'>> {
  const title = scene.sessions ? `${scene.conversationId} ${round}` : String(round)
  let nextToken: string | undefined
  do {
    const path = `${requests.botPath}/handovers?pageSize=100${nextToken ? `&nextToken=${nextToken}` : ''}`
    const { body } = await requests.admin('GET', path, { by: requests.administrator, expected: [200] })
    const { handovers, meta } = JSON.parse(body) as HandoverPage
    const found = handovers.find(
      (one) => one.title === title && (scene.sessions || one.conversationId === scene.conversationId),
    )
    if (found) return found
    nextToken = meta.nextToken
  } while (nextToken)
  throw new Error(`The handover ${title} of ${scene.conversationId} is not listed`)
}

interface HandoverPage {
  handovers: { id: string; conversationId: string; title: string }[]
  meta: { nextToken?: string }
}

/** Both agents take the conversation at once. @returns the one who got it */
async function race(place: Place, requests: Requests, { claims, differences }: Report): Promise<Agent | undefined> {
  const { agents, conversationId } = place.scene
  const outcomes = await Promise.all(agents.map((agent) => takeOver(place, agent, requests, [200, 409])))
  const winners = agents.filter((_, index) => outcomes[index] === 200)
  claims.all++
  if (winners.length === 1) claims.won++
  else differences.push(`${conversationId}: ${winners.length} agents took the conversation`)
  return winners[0]
}

async function takeOver({ conversationId }: Place, { headers: by }: Agent, requests: Requests, expected: number[]) {
  const path = `${requests.botPath}/conversations/${conversationId}/handover`
  return (await requests.admin('POST', path, { by, body: {}, expected })).status
}

async function setRole({ accountId }: Agent, role: string, requests: Requests): Promise<void> {
  const by = requests.administrator
  await requests.admin('PUT', `/v1/admin/workspace-members/${accountId}`, { by, body: { role }, expected: [200] })
}

/** The user and the member write in turn, the user two texts and the member one. */
async function answer(
  { scene, conversationId }: Place,
  { round, part, member }: { round: number; part: number; member: Agent },
  requests: Requests,
): Promise<void> {
  const copies = scene.sessions?.get(conversationId)
  for (const turn of ['first', 'second']) {
    const said = `say ${round}.${part} ${turn}`
    await requests.say(scene, said)
    if (copies) copies.push(said)
    else scene.withheld++
  }
  const path = `${requests.botPath}/conversations/${conversationId}/messages`
  if (copies) await untilCopied(path, copies, requests)
  const text = `member ${round}.${part}`
  await requests.admin('POST', path, {
    by: member.headers,
    body: { type: 'text', payload: { text } },
    expected: [201],
    key: `${conversationId} ${text}`,
  })
  if (!copies) return void scene.texts.push(text)
  copies.push(text)
  await requests.hear(scene, text)
}

/** Waits for the texts of the user in the inbox, so that those of the member follow them. */
async function untilCopied(path: string, copies: string[], { admin, administrator: by }: Requests): Promise<void> {
  const deadline = performance.now() + patienceMilliseconds
  for (;;) {
    const { body } = await admin('GET', path, { by, expected: [200] })
    if ((JSON.parse(body) as { messages: unknown[] }).messages.length >= copies.length) return
    if (performance.now() > deadline) throw new Error(`There is no "${copies.at(-1)}" at ${path}`)
    await pause(100)
  }
}

/** The conversations of a scene, with their texts. Through the inbox, those of members are the bot's to the user. */
function conversationsOf({ conversationId, texts, withheld, sessions }: Scene) {
  const copies = Array.from(sessions ?? [], ([id, texts]) => ({
    conversationId: id,
    texts,
    withheld: 0,
    byMembers: true,
  }))
  return [{ conversationId, texts, withheld, byMembers: sessions === undefined }, ...copies]
}

/** Compares the database with the texts that were acknowledged, in their order, and with the ends of their events. */
async function findDifferences(databaseUrl: string, scenes: Scene[]): Promise<string[]> {
  const database = new Database({ connectionString: databaseUrl })
  await database.connect()
  try {
    const differences: string[] = []
    for (const { conversationId, texts, withheld, byMembers } of scenes.flatMap(conversationsOf)) {
      const { rows } = await database.query<{ text: string; is_members: boolean }>(
        `select payload ->> 'text' as text, member_messages.message_id is not null as is_members
         from messages left join member_messages on message_id = messages.id
         where conversation_id = $1 order by messages.created_at, messages.id`,
        [conversationId],
      )
      const found = rows.map(({ text }) => text)
      const at = [...texts, ...found].findIndex((_, index) => texts[index] !== found[index])
      if (found.length !== texts.length || found.join() !== texts.join()) {
        const [expected, actual] = [texts, found].map((all) => all.slice(Math.max(0, at - 2), at + 3).join(', '))
        differences.push(`${conversationId}: [${actual}] instead of [${expected}]`)
      }
      const others = rows.filter((row) => row.is_members !== (byMembers && row.text.startsWith('member ')))
      if (others.length > 0) differences.push(`${conversationId}: ${others.length} messages have another author`)
      const events = await database.query<{ status: string; count: number }>(
        `select status, count(*)::integer as count from events
         where mailbox = $1 and status not in ('processed', 'ignored') or mailbox = $1 and handover_id is not null
         group by status order by status`,
        [conversationId],
      )
      const statuses = events.rows.map(({ status, count }) => `${status} ${count}`).join(', ')
      const expected = withheld === 0 ? '' : `ignored ${withheld}`
      if (statuses !== expected) differences.push(`${conversationId}: events are ${statuses}, not ${expected}`)
    }
    return differences
  } finally {
    await database.end()
  }
}

/** Describes the counts of a run, in lines. */
export function describeHandover(report: HandoverChaosReport): string {
  const { options, faults, seconds, handovers, claims, messages, differences } = report
  const kinds = [...faults].map(([kind, count]) => `${kind} ${count}`)
  return [
    `Chaos on ${options.backEnd}, seed ${options.seed}: ${differences.length === 0 ? 'no difference' : 'DIFFERENCES'}`,
    `  ${messages} messages of users, bot and agents in ${options.conversations} conversations, each once and in order`,
    `  handovers: resolved ${handovers.resolved}, expired ${handovers.expired}, ${handovers.throughInbox} of all through the inbox; in ${handovers.released} the member lost ` +
      `the role; ${claims.won} of ${claims.all} that two agents took at once had one winner`,
    `  faults in ${seconds.toFixed(0)} s: ${kinds.join(', ')}`,
    ...differences.map((difference) => `    ${difference}`),
  ].join('\n')
}
