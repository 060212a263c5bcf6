import { setTimeout as pause } from 'node:timers/promises'
import type { HostCall, HostFetch, HostReply, HostStream, Interruption, Json } from '#sandbox/protocol/contract.ts'
import { outcomesPath, type CardOutcomes } from '#sandbox/protocol/flow-contract.ts'
import { isModelAction } from '#shared/models/model-action.ts'
import { ApiError, isOutage, isUnstorable } from '#shared/errors.ts'
import { insertCardOutcomes } from '#shared/store/journal.ts'
import { dispatch, type FormattedLines, type Reply, type Request } from '#shared/dispatch.ts'
import type { BotCaller, LendTurn, OpenStreams } from '#shared/rpc/caller.ts'
import type { Context, FetchedBytes } from '#shared/context.ts'
import { readObject } from '#shared/files/objects.ts'
import type { FileContent } from '#shared/store/file-contents.ts'
import { formOfCode } from '#shared/rpc/form-file.ts'
import { hashOf, staleAttempt } from '#shared/rpc/journal.ts'
import { answersInLines, type Operation } from '#shared/rpc/operation.ts'
import { isRecord } from '#shared/models/payload.ts'
import type { FoundPassageView } from '#shared/models/passage.ts'
import type { Installation } from '#shared/models/tables.ts'
import { outsideOfTenants } from '#shared/tenant-scope.ts'
import { eventKnowledge } from './event-knowledge.ts'
import { recordModelCall } from '../run-record/record-model-call.ts'
import type { OpenStep } from '../run-record/run-recorder.ts'

/** The run whose host calls the handler answers. */
export interface HostRun {
  botId: string
  /** The installed integration that the code belongs to; absent for the bot's own code. */
  installation?: Installation
  eventId: string
  attempt: number
  /** The calls of actions that led to this run, for instance `callAction:1/`; empty for the event itself. */
  scope: string
  /** The open streams of all runs of the event's handling. */
  openStreams: OpenStreams
  /** Aborted when the run has ended: no code receives what its calls still return. */
  ended: AbortSignal
  /** The event may be run again after an outage of the platform; false where its runs may themselves be the cause. */
  mayRepeat?: boolean
  /** Called when a call waits for the database or Redis, which is unavailable. */
  onOutage?(): void
  lendTurn?: LendTurn
  /** Whether the code is an agent of the published runtime. */
  isOfAgent?: boolean
  /** Called for each host call; `name` receives its operation, and `end` the status of its answer, or a word for an end within. */
  onCall?(name: string): OpenStep
  /** Whether the event keeps what it asks language models. */
  keepsPrompts?: boolean
  /** The user of the event, with whom what it keeps is erased. */
  userId?: string | null
  /** Redacts the secrets of the code in a text that people read, before it is cut. */
  redact?(text: string): string
  /** Sends the requests of the code, within its grants and limits; absent: it can send none. */
  fetch?: HostFetch
  /** Runs an action of the bot or of an installed integration. `scope` is the nested run's. */
  callAction(type: string, input: Record<string, unknown>, scope: string): Promise<Record<string, unknown>>
}

/**
 * The sandbox's entry point: dispatches host calls to the same operations as HTTP requests, with the bot or its
 * installed integration as the caller. Calls are numbered in order of arrival, which is the order in which the code
 * made them.
 */
export function createHostHandler(
  context: Context,
  run: HostRun,
): (call: HostCall, reserveStream?: () => boolean) => Promise<HostReply | HostStream | Interruption> {
  const counts = new Map<string, number>()
  return async ({ method, path, query, body, scope: card }, reserveStream) => {
    if (path === outcomesPath) return recordOutcomes(context, run, body)
    let caller: BotCaller | undefined
    let operationName: string | undefined
    const step = run.onCall?.(`${method} ${path}`)
    const { reply, isUnanswered } = await dispatchWhenUp(context, run.onOutage, {
      method,
      path,
      ...(query && { query }),
      body: async (_caller, { form }) => (form ? formOfCode(body, form) : body),
      callerGone: () => run.ended,
      ...(run.fetch && { fetchForCaller: (url) => fetchBytes(run.fetch!, url, run.ended) }),
      // A retried call keeps its number.
      identify: (operation) => (caller = caller ? retried(caller) : toCaller(operation)),
    })
    if (reply.stream) return toHostStream(reply.status, reply.stream, (how) => step?.end(how))
    step?.end(reply.status)
    // The code is not at fault. While writes are refused, its event is not claimed again either, so that cannot repeat fast.
    if (reply.isWriteRefused) return { interrupted: writesRefused }
    if (isUnanswered && run.mayRepeat) return { interrupted: 'the platform could not answer a call' }
    if (reply.content) return contentStream(context, reply.status, reply.content)
    if (operationName !== 'searchFiles' || reply.status !== 200) return reply as HostReply
    const { passages } = reply.body as { passages: FoundPassageView[] }
    return { ...(reply as HostReply), kb: await eventKnowledge(context, run.botId, query ?? {}, passages) }

    function toCaller(operation: Operation): BotCaller {
      step?.name(operation.name)
      const comesInParts = operation.answersWithFile || answersInLines(operation, body)
      if (comesInParts && reserveStream?.() === false) throw tooManyStreams()
      operationName = operation.name
      const name = `${isCardScope(card) ? card : ''}${journalName(operation, body)}`
      const ordinal = (counts.get(name) ?? 0) + 1
      counts.set(name, ordinal)
      const call = { operation: `${run.scope}${name}`, ordinal }
      /** The action that the call runs: a call that is retried because of an outage waits for it, and does not run it again. */
      let action: Promise<Record<string, unknown>> | undefined
      return {
        kind: 'bot',
        botId: run.botId,
        ...(run.installation && { installation: run.installation }),
        execution: {
          eventId: run.eventId,
          attempt: run.attempt,
          openStreams: run.openStreams,
          call,
          ...(run.redact && { redact: run.redact }),
          ...(run.lendTurn && { lendTurn: run.lendTurn }),
          ...(run.isOfAgent && { isOfAgent: true }),
          ...(step && { reportModelCall: (report) => recordModelCall(context, run, { step, call, report }) }),
          callAction(type, input) {
            // The action's own calls are bounded, and its run may open what other bots use later.
            action ??= outsideOfTenants(() => run.callAction(type, input, `${run.scope}${name}:${ordinal}/`)).catch(
              (error: unknown) => {
                if (isOutage(error)) action = undefined
                throw error
              },
            )
            return action
          },
        },
      }
    }
  }
}

function retried({ execution, ...caller }: BotCaller): BotCaller {
  return { ...caller, ...(execution && { execution: { ...execution, isRetried: true } }) }
}

function tooManyStreams(): ApiError {
  return new ApiError('RateLimited', 'The run has too many open streams: read or cancel others first')
}

/** Requests an address that the code names in a call. @throws ApiError `Runtime` */
async function fetchBytes(fetch: HostFetch, url: string, ended: AbortSignal): Promise<FetchedBytes> {
  const answer = await fetch({ method: 'GET', url, headers: {}, redirect: 'follow' }, ended)
  const host = URL.parse(url)?.host ?? 'The address'
  if ('failure' in answer) throw notFetched(answer.message)
  if (!('body' in answer)) throw notFetched(`${host} answers in a stream`)
  const { status, body, isBase64, headers } = answer
  if (status < 200 || status >= 300) throw notFetched(`${host} answered with ${status}`)
  const mediaType = headers
    .find(([name]) => name === 'content-type')?.[1]
    .split(';', 1)[0]
    ?.trim()
  return { bytes: Buffer.from(body, isBase64 ? 'base64' : 'utf8'), mediaType: mediaType || undefined }
}

function notFetched(reason: string): ApiError {
  return new ApiError('Runtime', `The address cannot be read: ${reason}`, { metadata: { subtype: 'NOT_FETCHED' } })
}

/** A reply that is the content of a file, which is read as the code reads it. */
function contentStream(context: Context, status: number, { object, contentType }: FileContent): HostStream {
  return { status, contentType, parts: readObject(context, object), cancel() {} }
}

/**
 * A reply in lines as bytes.
 *
 * @param ended called once: with the status, or a word for an end within
 */
function toHostStream(
  status: number,
  { lines, cancel, format }: FormattedLines,
  ended: (how: number | string) => void,
): HostStream {
  const source = lines[Symbol.asyncIterator]()
  let isOver = false
  const parts = {
    async next(): Promise<IteratorResult<Uint8Array>> {
      if (isOver) return { done: true, value: undefined }
      const { done, value } = await source.next()
      if (done) {
        isOver = true
        ended(status)
        return format.end === undefined ? { done, value: undefined } : { done: false, value: Buffer.from(format.end) }
      }
      if (isRecord(value) && 'error' in value) ended('broken')
      return { done: false, value: Buffer.from(format.write(value)) }
    },
    async return(): Promise<IteratorResult<Uint8Array>> {
      ended('cut')
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
  const { contentType } = format
  return { status, contentType, parts: { [Symbol.asyncIterator]: () => parts }, cancel }
}

/** Scopes of cards are short and have no `/`, by which the depth of nested actions is counted. */
function isCardScope(scope: unknown): scope is string {
  return typeof scope === 'string' && /^card:[\w:-]{1,300}\.$/.test(scope)
}

/** Records the outcomes of the run's cards, which a run that repeats the event takes over. */
async function recordOutcomes(context: Context, run: HostRun, body: Json | undefined): Promise<HostReply> {
  const { entries } = (isRecord(body) ? body : {}) as Partial<CardOutcomes>
  if (!Array.isArray(entries) || !entries.every((entry) => isRecord(entry) && isCardScope(entry.scope))) {
    return { status: 400, body: { message: 'These are no outcomes of cards' } }
  }
  for (;;) {
    try {
      if (await insertCardOutcomes(context.db, run, entries)) return { status: 200, body: {} }
      const { status, message } = await staleAttempt(context.db, run.eventId)
      return { status, body: { message } }
    } catch (error) {
      if (isUnstorable(error)) {
        return { status: 400, body: { message: 'A variable holds a character that cannot be stored: U+0000' } }
      }
      if (ApiError.from(error).status !== 503) throw error
      await waitUntilUp(context, run.onOutage)
    }
  }
}

/** The reason of an interruption that lasts until PostgreSQL takes writes again. */
export const writesRefused = 'the database refuses all writes'

/** Maximum of retries of a call that got 503 although all dependencies are up. */
const maxRetries = 5
const pauseMilliseconds = 200

/**
 * Hides outages of the database or Redis from code: its calls wait until both are up or the run's time is over. The
 * journal prevents that a retried call writes again.
 *
 * @returns the last reply; it has `isWriteRefused` when PostgreSQL refused the writes of any attempt. `isUnanswered` tells
 *   that no attempt was answered
 */
async function dispatchWhenUp(
  context: Context,
  onOutage: HostRun['onOutage'],
  request: Request,
): Promise<{ reply: Reply; isUnanswered: boolean }> {
  const { all } = context.dependencies
  let breaks = 0
  let isWriteRefused = false
  for (;;) {
    const reply = await dispatch(context, request)
    if (reply.status !== 503) return { reply, isUnanswered: false }
    isWriteRefused ||= reply.isWriteRefused === true
    if (all.every((dependency) => dependency.isUp())) breaks++
    if (breaks > maxRetries) return { reply: isWriteRefused ? { ...reply, isWriteRefused } : reply, isUnanswered: true }
    await waitUntilUp(context, onOutage)
  }
}

async function waitUntilUp({ dependencies: { all } }: Context, onOutage: HostRun['onOutage']): Promise<void> {
  if (!all.every((dependency) => dependency.isUp())) onOutage?.()
  await Promise.all(all.map((dependency) => dependency.waitUntilUp()))
  await pause(pauseMilliseconds)
}

/**
 * The name under which a call is numbered. The number of calls that publish a message stream depends on timing: a
 * repeated run may make fewer, and must still find its other actions by their numbers.
 */
function journalName({ name, isRecordedByInput, input }: Operation, body: Json | undefined): string {
  if (!isRecord(body)) return name
  if (isRecordedByInput) return `${name}#${hashOf(declaredFields(input, body))}`
  const type = name === 'callAction' && typeof body['type'] === 'string' ? body['type'] : ''
  if (isModelAction(type)) return `${name}#${hashOf(declaredFields(input, body))}`
  return type === 'chat:publishMessageStream' ? 'publishMessageStream' : name
}

/** The fields that the operation gets; some clients add fields that differ from run to run. */
function declaredFields(input: { properties?: object }, body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(input.properties ?? {}, name)))
}
