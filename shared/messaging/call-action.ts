import { wakeWorker } from '../signals/after-commit.ts'
import { awaitOutcome } from '../signals/await-outcome.ts'
import { WaitingRequests } from '../signals/waiting-requests.ts'
import { chatActions } from './chat-actions.ts'
import type { Context } from '../context.ts'
import { onceEachRun, type JournalledRun } from '../rpc/journal.ts'
import { ApiError, notFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { allowedLimits } from '../config/limit-settings.ts'
import { isInbox, isWebchat } from '../models/chat-integration.ts'
import { inboxActionNames } from './inbox-actions.ts'
import { webchatActions } from './webchat-actions.ts'
import { actionTriggered } from '../models/event.ts'
import { findDeployedVersion, findOwnLimits, isDevelopedElsewhere } from '../store/bots.ts'
import { findInstalledIntegration } from '../store/code.ts'
import type { Database } from '../store/database.ts'
import { findEvent, insertEvent } from '../store/events.ts'
import { listInstallations } from '../store/installations.ts'

const graceMilliseconds = 5000

/** Upper bound of the calls of actions of one bot that wait in one process: each holds a request until it ends. */
const waiting = new WaitingRequests(100)

/**
 * Calls an action of a bot, or of an integration installed on it, for a caller outside the sandbox. A worker runs the
 * call as an event with a mailbox of its own: the call survives the death of the worker, and its result is stored with
 * the event.
 *
 * @param call `type` is a bot's own action or `alias:action`; `depth` is the number of action calls that led to it
 * @param run the calling run, if there is one, which calls the action once; its call is this one's key in the journal
 * @returns the action's output
 * @throws ApiError `Runtime` when the action fails, `ReferenceNotFound` when there is none of that name, `RateLimited`
 *   when too many calls or events of the bot wait
 */
export async function callActionRemotely(
  context: Context,
  botId: string,
  call: RemoteCall,
  run?: JournalledRun,
): Promise<Record<string, unknown>> {
  // Calls of runs are bounded by the slots of their worker.
  if (run) return storeAndAwait(context, botId, call, run)
  return waiting.run(context, { botId }, 'calls of actions of this bot', () => storeAndAwait(context, botId, call))
}

interface RemoteCall {
  type: string
  input: Record<string, unknown>
  depth?: number
}

async function storeAndAwait(
  context: Context,
  botId: string,
  { type, input, depth }: RemoteCall,
  run?: JournalledRun,
): Promise<Record<string, unknown>> {
  const { db, signals, config, callerGone } = context
  const [action, own] = await Promise.all([findAction(context, botId, type), findOwnLimits(db, botId)])
  const call = { action, input, depth }
  const known = run ? await storeOnce(context, botId, run, call) : context.awaited?.eventId
  const id = known ?? newId('evt')
  const event = await awaitOutcome(signals, id, {
    async ask() {
      if (context.awaited) context.awaited.eventId = id
      const isStored = run !== undefined || (known !== undefined && (await findEvent(db, botId, id)) !== undefined)
      if (!isStored) await insertCall(context, botId, { id, ...call })
      await wakeWorker(context, 'event', id, botId)
    },
    async poll() {
      const row = await findEvent(db, botId, id)
      if (!row) throw notFound('Bot', 'it was deleted while its action ran')
      return row.status === 'pending' ? undefined : row
    },
    callerGone: callerGone?.(),
    timeoutMilliseconds: allowedLimits(config.sandbox, own).wallMilliseconds + graceMilliseconds,
    timeoutMessage: `The action did not finish in time; it continues, and event ${id} will hold its outcome`,
  })
  if (event.status === 'processed') return (event.result ?? {}) as Record<string, unknown>
  throw new ApiError('Runtime', event.failure_reason ?? 'The action failed', { metadata: { eventId: id } })
}

/**
 * Stores the call that a run makes. A run that is repeated, and a call that an outage interrupts, wait for the outcome of
 * the event that is stored already. An action that failed in an earlier run is called again, as every failed call is.
 *
 * @returns the id of its event
 */
async function storeOnce(
  context: Context,
  botId: string,
  run: JournalledRun,
  call: { action: FoundAction; input: Record<string, unknown>; depth: number | undefined },
): Promise<string> {
  const { attempt } = run
  const store = async (db: Database) => {
    const id = newId('evt')
    await insertCall({ ...context, db }, botId, { id, ...call })
    return { id, attempt }
  }
  const { id } = await onceEachRun({ ...context, caller: { execution: run } }, call, store, async (db, recorded) => {
    const status = (await findEvent(db, botId, recorded.id))?.status
    const hasFailed = status !== 'pending' && status !== 'processed'
    return hasFailed && recorded.attempt !== attempt ? store(db) : { ...recorded, attempt }
  })
  return id
}

/**
 * Stores a call of an action that computes values of a table. When it ends, a worker is woken for the table.
 *
 * @param db a transaction; the caller wakes a worker for the event after it
 * @returns the id of its event, which is its mailbox too
 * @throws ApiError `ReferenceNotFound` when there is no action of that name, `RateLimited` when too many events wait
 */
export async function storeRecomputingCall(
  context: Context,
  db: Database,
  { botId, tableId, ...call }: { botId: string; tableId: string; type: string; input: Record<string, unknown> },
): Promise<string> {
  const id = newId('evt')
  const action = await findAction(context, botId, call.type)
  await insertCall({ ...context, db }, botId, { id, action, input: call.input, tableId })
  return id
}

/** The payload of the event of a call. */
type Payload = {
  type: string
  input: Record<string, unknown>
  /** The number of action calls that led to it. */
  depth?: number | undefined
  /** The table of which it computes values. */
  tableId?: string
}

async function insertCall(
  { db, waiting }: Context,
  botId: string,
  call: Pick<Payload, 'input' | 'depth' | 'tableId'> & { id: string; action: FoundAction },
): Promise<void> {
  const { id, input, depth, tableId } = call
  const { name, installationId } = call.action
  const payload: Payload = { type: name, input, ...(depth && { depth }), ...(tableId && { tableId }) }
  const triggered = { id, botId, type: actionTriggered, payload, ...(installationId && { installationId }) }
  await waiting.admit(db, botId, () => insertEvent(db, triggered))
}

interface FoundAction {
  /** Without the alias. */
  name: string
  installationId?: string
}

async function findAction({ db, config }: Context, botId: string, type: string): Promise<FoundAction> {
  const { alias, name } = splitActionType(type)
  if (alias === undefined) {
    const version = await findDeployedVersion(db, botId)
    // The actions of a bundle of the public SDK are known only to its code, when it is called.
    if (version?.kind === 'sdk' || version?.actions.includes(name) || (await isDevelopedElsewhere(db, botId))) {
      return { name }
    }
    throw unknownAction(type, version?.actions)
  }
  const installed = await findInstalledIntegration(db, config.secret, botId, { alias })
  if (!installed?.installation.enabled) throw await notInstalled(db, botId, type)
  if (!installed.actions.includes(name)) throw unknownAction(type, installed.actions)
  return { name, installationId: installed.installation.id }
}

/**
 * Splits the type of an action into its name and the alias of an integration; without an alias the action is the bot's
 * own.
 */
export function splitActionType(type: string): { alias?: string; name: string } {
  const colon = type.indexOf(':')
  return colon < 0 ? { name: type } : { alias: type.slice(0, colon), name: type.slice(colon + 1) }
}

/** @param actions names of the existing actions, without an alias; absent when there is no code */
export function unknownAction(type: string, actions: string[] = []): ApiError {
  const { alias } = splitActionType(type)
  const whose = alias === undefined ? 'the bot' : `the integration '${alias}'`
  const choice = actions.length > 0 ? `it has ${actions.join(', ')}` : 'it has no actions'
  return new ApiError('ReferenceNotFound', `Action '${splitActionType(type).name}' of ${whose} not found: ${choice}`)
}

/** The error for an action whose alias is not that of an enabled integration. */
export async function notInstalled(db: Database, botId: string, type: string): Promise<ApiError> {
  const { alias } = splitActionType(type)
  const installations = await listInstallations(db, botId)
  const named = installations.find((installation) => installation.alias === alias)
  if (named?.integration_id === null && named.enabled) {
    const names = isInbox(named) ? inboxActionNames : (isWebchat(named) ? webchatActions : chatActions).keys()
    return unknownAction(
      type,
      Array.from(names, (name) => splitActionType(name).name),
    )
  }
  if (named)
    return new ApiError('ReferenceNotFound', `The integration '${alias}' is disabled: enable it before calling it`)
  const aliases = installations.map((installation) => installation.alias).join(', ')
  return new ApiError('ReferenceNotFound', `Integration '${alias}' not found: the bot has ${aliases}`)
}
