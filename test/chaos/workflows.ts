import { setTimeout as pause } from 'node:timers/promises'
import { countWaiting, read } from './check.ts'
import type { FaultKind } from './faults.ts'
import { openChaosPlatform, type ChaosPlatform, type PlatformOptions } from './platform.ts'
import { chancesFrom, type Chances } from './random.ts'
import { stopMembers, talkDuringFaults } from './run.ts'
import { mayPass, type Counts, type Talk } from './talk.ts'
import { children, courseOf, stepsOf, workflowBotCode, type Course } from './workflow-bot.ts'

export interface WorkflowChaosOptions extends PlatformOptions {
  seed: number
  /** Minimum number of messages, each of which begins a workflow. */
  messages: number
  conversations: number
  faults: number
  kinds: readonly FaultKind[]
  spacingMilliseconds: number
  drainMilliseconds: number
}

export interface WorkflowChaosReport {
  options: WorkflowChaosOptions
  faults: Map<FaultKind, number>
  counts: Counts
  /** Workflows, children included, and the updates that they got. */
  workflows: number
  updates: number
  /** Events by which a program answered workflows. */
  answers: number
  seconds: { faults: number; drain: number }
  differences: string[]
}

/**
 * Makes users begin workflows during faults: some work for several events, some listen for scheduled events, for events of a
 * program or for their children, some run out of time. Compares each with its course without faults.
 *
 * @param parts receives what has to be closed afterwards
 * @param tell receives the progress
 */
export async function runWorkflowChaos(
  options: WorkflowChaosOptions,
  parts: AsyncDisposableStack,
  tell: (line: string) => void,
): Promise<WorkflowChaosReport> {
  const platform = await openChaosPlatform(options, parts)
  const { botId, chatPath, talks } = await platform.openTalks(options.conversations, workflowBotCode)
  const counts: Counts = { acknowledged: 0, replayed: 0, refusals: new Map() }
  const faults = new Map<FaultKind, number>()
  const begunAt = performance.now()
  const drained = new AbortController()
  const answering = answerWorkflows(platform, botId, chancesFrom(options.seed + 2), drained.signal)
  await talkDuringFaults(platform, { chatPath, talks, eventsPerMessage: 4 }, options, { counts, faults, tell })
  const mendedAt = performance.now()
  await untilEnded(platform.databaseUrl(), options.drainMilliseconds, tell)
  const endedAt = performance.now()
  drained.abort()
  const answers = await answering
  const surprises = await stopMembers(platform)
  const { differences, ...found } = await findDifferences(platform.databaseUrl(), talks)
  return {
    options,
    faults,
    counts,
    ...found,
    answers,
    seconds: { faults: (mendedAt - begunAt) / 1000, drain: (endedAt - mendedAt) / 1000 },
    differences: [...surprises, ...differences],
  }
}
const answerMilliseconds = 10_000

/**
 * Answers each workflow that asks, once for each of its steps, until the platform has acknowledged it. An answer names the
 * workflow perhaps before it listens, while the update of its step is still handled.
 *
 * @returns the number of answers
 */
async function answerWorkflows(
  { apiUrls, headers }: ChaosPlatform,
  botId: string,
  chances: Chances,
  over: AbortSignal,
): Promise<number> {
  const answered = new Set<string>()
  async function ask(method: string, path: string, body?: object, key?: string) {
    const response = await fetch(chances.pick(apiUrls) + path, {
      method,
      headers: {
        ...headers,
        'x-bot-id': botId,
        'content-type': 'application/json',
        ...(key && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerMilliseconds),
    }).catch(() => undefined)
    const text = await response?.text().catch(() => undefined)
    if (response && !response.ok && !mayPass.has(response.status)) throw new Error(`${method} ${path}: ${text}`)
    return response?.ok && text !== undefined ? JSON.parse(text) : undefined
  }
  const path = `/v1/chat/workflows?tags[course]=asks&statuses=listening&pageSize=100`
  while (!over.aborted) {
    const page = await ask('GET', path)
    const unanswered = (page?.workflows ?? []).map(async ({ id, output }: FoundWorkflow) => {
      const key = `${id}-${output.steps?.length}`
      if (answered.has(key)) return
      const answer = { type: 'answer', payload: {}, workflowId: id }
      if (await ask('POST', '/v1/chat/events', answer, key)) answered.add(key)
    })
    await Promise.all(unanswered)
    await pause(100)
  }
  return answered.size
}

async function untilEnded(databaseUrl: string, milliseconds: number, tell: (line: string) => void): Promise<void> {
  const deadline = performance.now() + milliseconds
  for (;;) {
    const events = await countWaiting(databaseUrl)
    const [open] = await read<{ count: number }>(
      databaseUrl,
      'select count(*)::integer as count from workflows where completed_at is null',
    )
    if ((events === 0 && open!.count === 0) || performance.now() > deadline) return
    tell(`${events} events and ${open!.count} workflows wait`)
    await pause(1000)
  }
}

interface FoundWorkflow {
  id: string
  name: Course | 'child'
  status: string
  parent_id: string | null
  input: { number: number; conversationId: string; child?: number }
  output: { steps?: string[] }
  /** The types of its updates, in order. */
  updates: string[]
}

/** Compares each workflow, its updates and its messages with those of a run without faults. */
async function findDifferences(databaseUrl: string, talks: Talk[]) {
  const workflows = await read<FoundWorkflow>(
    databaseUrl,
    `select id, name, status, parent_id, input, output,
       array(select payload ->> 'type' from events
         where workflow_id = workflows.id and type = 'workflow_update' order by created_at, events.id) as updates
     from workflows order by created_at, id`,
  )
  const said = await read<{ conversation: string; texts: string[] }>(
    databaseUrl,
    `select conversation_id as conversation, array_agg(payload ->> 'text' order by created_at, id) as texts
     from messages where direction = 'outgoing' group by conversation_id`,
  )
  const unprocessed = await read<{ id: string; status: string; reason: string | null }>(
    databaseUrl,
    `select id, status, failure_reason as reason from events where status <> 'processed' order by id limit 10`,
  )
  const differences = unprocessed.map(({ id, status, reason }) => `${id} is ${status}, ${reason}`)
  const texts = new Map(said.map(({ conversation, texts }) => [conversation, texts]))
  const byConversation = Map.groupBy(workflows, ({ input }) => input.conversationId)
  for (const { conversationId, acknowledged } of talks) {
    const own = byConversation.get(conversationId) ?? []
    for (const [index, text] of acknowledged.entries()) {
      const of = own.filter(({ input }) => input.number === index + 1)
      const messages = (texts.get(conversationId) ?? []).filter((said) => said.startsWith(`${index + 1} `))
      for (const difference of compare(courseOf(index + 1), of, messages))
        differences.push(`${conversationId}, ${text}: ${difference}`)
    }
    if (own.some(({ input }) => input.number > acknowledged.length)) {
      differences.push(`${conversationId}: a workflow without a message`)
    }
  }
  const updates = workflows.reduce((sum, workflow) => sum + workflow.updates.length, 0)
  return { workflows: workflows.length, updates, differences }
}

/** Compares the workflows of one message, and their messages, with its course. */
function* compare(course: Course, found: FoundWorkflow[], messages: string[]): Generator<string> {
  const [own, ...others] = found.filter(({ name }) => name !== 'child')
  if (!own || others.length > 0) {
    yield `${own ? others.length + 1 : 0} workflows instead of one`
    return
  }
  const isExpiring = course === 'expires'
  const updates = own.updates.join(', ')
  const says = (how: string) => `${own.id} (${course}) ${how}`
  if (own.status !== (isExpiring ? 'timedout' : 'completed')) yield says(`is ${own.status}, with ${updates}`)
  const expected = stepsOf[course].join()
  const steps = (own.output.steps ?? []).join()
  if (!isExpiring && steps !== expected) yield says(`has done ${steps}`)
  const said = messages.flatMap((text) => text.split(`${course}  `)[1] ?? []).join()
  if (said !== expected) yield says(`has said ${said}`)
  if (course === 'parent') yield* compareParent(own, found, messages)
  else {
    const follows = isExpiring ? ['workflow_timedout'] : stepsOf[course].slice(1).map(() => 'workflow_continued')
    if (updates !== ['workflow_started', ...follows].join(', ')) yield says(`has ${updates}`)
  }
}

/** It is continued after the end of each child, or once after both. */
function* compareParent(parent: FoundWorkflow, found: FoundWorkflow[], messages: string[]): Generator<string> {
  const of = (type: string) => parent.updates.filter((update) => update === type).length
  const continuations = of('workflow_continued')
  const isStartedOnce = of('workflow_started') === 1 && parent.updates[0] === 'workflow_started'
  if (!isStartedOnce || of('child_workflow_finished') !== children || continuations < 1 || continuations > children) {
    yield `${parent.id} (parent) has ${parent.updates.join(', ')}`
  }
  const ended = found.filter(({ name, status }) => name === 'child' && status === 'completed')
  const expected = ended.map(({ input }) => `${input.number} child ${input.child} done`).toSorted()
  const said = messages.filter((text) => text.includes(' child ')).toSorted()
  if (ended.length !== children || said.join() !== expected.join()) {
    yield `${parent.id} (parent): ${ended.length} children have ended, and said ${said.join()}`
  }
}

/** Describes a run, in lines. */
export function describeWorkflows(report: WorkflowChaosReport): string {
  const { options, faults, counts, workflows, updates, answers, seconds, differences } = report
  const kinds = [...faults].map(([kind, count]) => `${kind} ${count}`)
  return [
    `Chaos on ${options.backEnd}, seed ${options.seed}, with workflows: ${differences.length === 0 ? 'no difference' : 'DIFFERENCES'}`,
    `  ${counts.acknowledged} messages in ${options.conversations} conversations began ${workflows} workflows with ${updates} updates, ` +
      `and ${answers} events of a program`,
    `  faults in ${seconds.faults.toFixed(0)} s: ${kinds.join(', ')}; the last workflow ended ${seconds.drain.toFixed(0)} s later`,
    ...differences.slice(0, 20).map((difference) => `    ${difference}`),
    ...(differences.length > 20 ? [`    and ${differences.length - 20} more`] : []),
  ].join('\n')
}
