import { randomUUID } from 'node:crypto'
import type { FlowPosition, FlowResult, FlowTask } from '#sandbox/protocol/flow-contract.ts'
import type { JsonObject, LogLine } from '#sandbox/protocol/contract.ts'
import type { Context } from '#shared/context.ts'
import type { Flow } from '#shared/flows/flow.ts'
import { summarizeFlows } from '#shared/flows/flow-summary.ts'
import { toFlowPosition } from '#shared/flows/position.ts'
import { flowDue, flowEnded, flowResumed, flowStarted, messageCreated } from '#shared/models/event.ts'
import { flowStateName } from '#shared/models/state.ts'
import { exampleId } from '#shared/openapi/example-values.ts'
import type { StateChange } from '#shared/store/complete-events.ts'
import { noSettings, type BotCode } from '../../worker/code/bundles.ts'
import { botCall } from '../../worker/calls/bot-calls.ts'
import { positionChange } from '../../worker/calls/flow-task.ts'
import { stateChanges } from '../../worker/execution/state-changes.ts'
import { misused } from '../failure.ts'
import { runDry, type DryRunCall, type DryRunContext, type DryRunFetch } from './host.ts'
import { claimed, type NewEvent } from './conversation-event.ts'
import { toResult, type DryRunResult } from './result.ts'
import type { SourceMapIndex } from '#sandbox/compiler/source-map.ts'

/** A message of the bot: its text, or for other types its fields with the type. */
export type Reply = string | ({ type: string } & JsonObject)

/** Variables with which a conversation or a flow begins, and those of the present moment, by scope. */
export interface Variables {
  workflow: JsonObject
  temp: JsonObject
  user: JsonObject
  conversation: JsonObject
  session: JsonObject
  bot: JsonObject
}

/** A conversation with the bot of a dry run. Its events are handled one after the other, as on the platform. */
export interface DryRunConversation {
  /**
   * Starts a flow, in the place of those in progress.
   *
   * @param at `flow`, or `flow/node` to start at a node
   * @param variables of the flow (`workflow`), and `temp`
   * @returns what the bot says until it waits
   */
  start(at: string, variables?: Partial<Pick<Variables, 'workflow' | 'temp'>>): Promise<Reply[]>
  /** Says a text, or sends another message: `{ text: 'Tea', value: 'tea' }`. @returns what the bot answers */
  say(message: string | JsonObject): Promise<Reply[]>
  /**
   * Has the bot receive an event other than a message, which may meet a trigger.
   *
   * @param event `conversation: false` for one outside of the conversation
   * @returns what the bot says
   */
  receive(event: { type: string; payload?: JsonObject; integration?: string; conversation?: boolean }): Promise<Reply[]>
  /** Lets the present wait, for an answer or for a time, elapse now. @returns what the bot says */
  timeout(): Promise<Reply[]>
  /** Hands the conversation back, as `resumeFlow`. @returns what the bot says */
  resume(): Promise<Reply[]>
  /** Where the conversation waits, as `getFlowPosition` shows it; undefined when no flow is in progress. */
  readonly position: ReturnType<typeof toFlowPosition>
  readonly variables: Variables
  /** The calls, the outbound requests and the log since the last of these methods was called. */
  readonly calls: DryRunCall[]
  readonly fetches: DryRunFetch[]
  readonly logs: LogLine[]
}

/** An event of the conversation has failed. State and position are as before it. */
export class EventFailedError extends Error {
  readonly failure: NonNullable<DryRunResult['error']>

  constructor(failure: NonNullable<DryRunResult['error']>) {
    const { hook, name, message, stack } = failure
    super(`${hook === undefined ? '' : `${hook}: `}${name}: ${message}${stack && `\n${stack}`}`)
    this.name = 'EventFailedError'
    this.failure = failure
  }
}

/** Upper bound of the events that one message may lead to: code may create events without end. */
const maxEvents = 100

interface Options {
  context: Omit<DryRunContext, 'record' | 'receive'>
  hooks: string[]
  flows: Flow[]
  map: SourceMapIndex | undefined
  state: Partial<Variables>
}

/** Opens a conversation in the isolate of a dry run. */
export function openConversation({ context, hooks, flows, map, state }: Options): DryRunConversation {
  const code: BotCode = {
    bundle: { ...context.bundle, kind: 'native' },
    sourceMap: '',
    versionId: exampleId('version'),
    hooks,
    actions: context.actions,
    retry: null,
    flows: flows.length === 0 ? undefined : summarizeFlows(JSON.stringify(flows)),
    settings: noSettings,
  }
  const record: DryRunContext['record'] = { calls: [], fetches: [], logs: [] }
  const states = new Map<string, JsonObject>(
    [
      ['bot/state', state.bot],
      ['user/state', state.user],
      ['conversation/state', state.conversation],
      ['conversation/session', state.session],
    ].map(([key, payload]) => [key as string, structuredClone(payload ?? {}) as JsonObject]),
  )
  let events = 0
  let last: Promise<unknown> = Promise.resolve()
  /** Events that the code has created in the conversation, and that are not handled yet. */
  const created: NewEvent[] = []
  const part = (key: string) => structuredClone(states.get(key) ?? {})
  const stored = () => states.get(`conversation/${flowStateName}`)
  const position = () => stored()?.['position'] as FlowPosition | undefined

  const receive = (operation: string, input: JsonObject): JsonObject | undefined => {
    if (input['conversationId'] !== conversationId) return undefined
    if (operation === 'getFlowPosition')
      return (toFlowPosition(stored()) ? { position: toFlowPosition(stored()) } : {}) as JsonObject
    const event = eventOf(operation, input)
    if (event) created.push(event)
    return undefined
  }

  const handle = async (event: NewEvent): Promise<void> => {
    events += 1
    const row = claimed(event, events, states)
    // The database is only read for an event that runs again.
    const call = await botCall({} as Context, row, code)
    if (!call) return
    const id = randomUUID()
    const outcome = await runDry({ ...context, record, receive }, id, { ...call.task, streamPrefix: `${id}/` })
    const { error } = toResult(outcome, map)
    if (error) throw new EventFailedError(error)
    if (outcome.status !== 'done') return
    const hasFlows = call.task.kind === 'event' && call.task.flow !== undefined
    const after = hasFlows ? (outcome.result as unknown as FlowResult).position : undefined
    for (const change of [...stateChanges(row, outcome.state), ...positionChange(row, after)]) apply(states, change)
  }

  const handleAll = async (first: NewEvent): Promise<Reply[]> => {
    for (const list of [record.calls, record.fetches, record.logs]) list.length = 0
    created.length = 0
    let handled = 0
    for (let event: NewEvent | undefined = first; event; event = created.shift()) {
      if (++handled > maxEvents) throw new Error(`The event led to more than ${maxEvents} further ones`)
      await handle(event)
    }
    return record.calls.flatMap(toReply)
  }

  /** The methods take their turn, also when they are called at once. */
  const inTurn = (makeEvent: () => NewEvent): Promise<Reply[]> => {
    const turn = last.then(() => handleAll(makeEvent()))
    last = turn.catch(() => undefined)
    return turn
  }

  return {
    start: (at, { workflow, temp } = {}) =>
      inTurn(() => {
        const [flow = '', node] = at.split('/')
        assertNode(flows, flow, node)
        const start: FlowTask['start'] = {
          flow,
          ...(node && { node }),
          ...(workflow && { input: workflow }),
          ...(temp && { temp }),
        }
        return { type: flowStarted, payload: start }
      }),
    say: (message) =>
      inTurn(() => ({
        type: messageCreated,
        payload: { type: 'text', ...(typeof message === 'string' ? { text: message } : message) },
      })),
    receive: (event) => inTurn(() => ({ payload: {}, ...event })),
    timeout: () =>
      inTurn(() => {
        const waits = position()?.frames.at(-1)?.waits
        if (!waits) throw misused('The conversation waits for nothing: no flow is in progress')
        if (waits.until === null) throw misused(`The conversation waits for ${waits.for} without an end`)
        return { type: flowDue, payload: { waitOf: position()!.event } }
      }),
    resume: () => inTurn(() => ({ type: flowResumed, payload: {} })),
    get position() {
      return toFlowPosition(stored())
    },
    get variables() {
      const { frames, temp } = structuredClone(position() ?? { frames: [], temp: {} })
      return {
        workflow: frames.at(-1)?.variables ?? {},
        temp,
        user: part('user/state'),
        conversation: part('conversation/state'),
        session: part('conversation/session'),
        bot: part('bot/state'),
      }
    },
    get calls() {
      return [...record.calls]
    },
    get fetches() {
      return [...record.fetches]
    },
    get logs() {
      return [...record.logs]
    },
  }
}

const conversationId = exampleId('conversation')

/** @throws Failure when there is no such flow, or no such node in it */
function assertNode(flows: Flow[], id: string, node: string | undefined): void {
  const flow = flows.find((each) => each.id === id)
  if (!flow) throw misused(`Flow '${id}' not found: the bot has ${flows.map((each) => each.id).join(', ') || 'none'}`)
  if (node && !flow.nodes.some((each) => each.id === node)) throw misused(`Node '${node}' of flow '${id}' not found`)
}

/** The event that a call of the code creates in the conversation; scheduled ones are left to the author. */
function eventOf(operation: string, input: JsonObject): NewEvent | undefined {
  const { type, payload, schedule, conversationId: _conversation, userId: _user, ...others } = input
  switch (operation) {
    case 'createEvent':
      return schedule === undefined ? { type: type as string, payload: payload as JsonObject } : undefined
    case 'startFlow':
      return { type: flowStarted, payload: others }
    case 'resumeFlow':
      return { type: flowResumed, payload: {} }
    case 'endFlow':
      return { type: flowEnded, payload: {} }
    default:
      return undefined
  }
}

function toReply({ operation, input, refusal }: DryRunCall): Reply[] {
  if (operation !== 'createMessage' || refusal || input['conversationId'] !== conversationId) return []
  const { type, payload } = input as { type: string; payload: JsonObject }
  return [type === 'text' ? (payload['text'] as string) : { type, ...payload }]
}

function apply(states: Map<string, JsonObject>, { type, name, set, removed }: StateChange): void {
  const key = `${type}/${name}`
  const payload = { ...states.get(key), ...set } as JsonObject
  for (const field of removed) delete payload[field]
  states.set(key, payload)
}
