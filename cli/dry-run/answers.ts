import type { FetchAnswer, FetchFailure, FetchRequest, HostFetch, JsonObject } from '#sandbox/protocol/contract.ts'
import { ApiError, errorStatuses, type ErrorType } from '#shared/errors.ts'
import { isRecord } from '#shared/models/payload.ts'
import type { Operation } from '#shared/rpc/operation.ts'
import { exampleOfAnswer } from '#shared/openapi/examples.ts'
import { botOperations } from '#shared/router.ts'
import { didYouMean } from '#shared/did-you-mean.ts'
import { misused } from '../failure.ts'

/**
 * The author's answers to the calls of a dry run, by operation; those to `fetch` by address. A list has one answer for
 * each call in turn, and its last item answers all later calls. `{ "error": "ResourceNotFound" }` refuses the call.
 */
export interface ScriptedAnswers {
  [operation: string]: unknown
  fetch?: Record<string, unknown>
}

/** Answers the calls of a dry run, which executes none of them. */
export interface Answers {
  /** The author's answer; undefined when there is none. */
  scripted(operation: string): { answer: JsonObject } | undefined
  /** An answer of the operation's shape, made from its documented example. */
  exampleAnswer(operation: Operation, input: JsonObject): JsonObject
  fetch: HostFetch
}

/** @throws Failure when `given` is not an object of answers */
export function openAnswers(given: ScriptedAnswers, options: { allowsFetch: boolean }): Answers {
  if (!isRecord(given)) throw misused('Answers must be an object: { "getUser": { "user": { … } } }')
  const { fetch: fetched = {}, ...operations } = given
  for (const name of Object.keys(operations)) assertOperation(name)
  if (!isRecord(fetched))
    throw misused('The answers to "fetch" must be an object: { "GET https://…": { "status": 200 } }')
  for (const [address, answers] of Object.entries(fetched)) {
    for (const answer of Array.isArray(answers) ? answers : [answers]) assertFetchAnswer(address, answer)
  }
  const next = inTurn()
  const states = new Map<string, JsonObject>()
  return {
    scripted(operation) {
      if (!Object.hasOwn(operations, operation)) return undefined
      return { answer: toAnswer(next(operation, operations[operation])) }
    },
    exampleAnswer: (operation, input) => rememberState(states, operation, input) ?? resembling(operation, input),
    async fetch(request, signal) {
      for (const address of [`${request.method} ${request.url}`, request.url]) {
        if (Object.hasOwn(fetched, address)) return toFetchAnswer(request, next(`fetch ${address}`, fetched[address]))
      }
      return options.allowsFetch ? requestIndeed(request, signal) : notRequested(request)
    },
  }
}

/** @throws Failure when bot code cannot call an operation of this name: its answer would never be given */
function assertOperation(name: string): void {
  const names = botOperations.map((operation) => operation.name)
  if (names.includes(name)) return
  const near = didYouMean(name, names)
  throw misused(`There is no operation '${name}' to answer${near === undefined ? '' : `: did you mean '${near}'?`}`)
}

const fetchFields = ['status', 'headers', 'body']

/** @throws Failure when an object has other fields than an answer: it is the body that was meant, and would be empty */
function assertFetchAnswer(address: string, answer: unknown): void {
  if (!isRecord(answer)) return
  const unknown = Object.keys(answer).find((field) => !fetchFields.includes(field))
  if (unknown === undefined) return
  throw misused(
    `The answer to ${address} has the field '${unknown}', and not only status, headers and body: ` +
      'write { "body": … } around the content of a response',
  )
}

/** Returns the next item of a list at each call, and its last item after the end. */
function inTurn(): (name: string, value: unknown) => unknown {
  const counts = new Map<string, number>()
  return (name, value) => {
    if (!Array.isArray(value)) return value
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return value[Math.min(count, value.length - 1)] as unknown
  }
}

function toAnswer(answer: unknown): JsonObject {
  if (!isRecord(answer)) throw new ApiError('Internal', 'An answer in --answers must be a JSON object')
  const { error, message } = answer
  if (typeof error !== 'string') return answer as JsonObject
  const type = (Object.hasOwn(errorStatuses, error) ? error : 'Unknown') as ErrorType
  throw new ApiError(type, typeof message === 'string' ? message : `Refused by --answers: ${error}`)
}

/** Keeps states during the dry run, so that `getState` returns the value of `setState`. */
function rememberState(
  states: Map<string, JsonObject>,
  { name }: Operation,
  input: JsonObject,
): JsonObject | undefined {
  if (!name.endsWith('State')) return undefined
  // The input has passed the operation's schema, so these are strings.
  const { type, id, name: stateName } = input as { type: string; id: string; name: string }
  const key = [type, id, stateName].join('/')
  const before = states.get(key)
  const payload = (input['payload'] ?? {}) as JsonObject
  if (name === 'getState' && !before)
    throw new ApiError('ResourceNotFound', `State '${key}' not found: it was not set in this dry run`)
  if (name === 'setState') states.set(key, payload)
  if (name === 'patchState') states.set(key, { ...before, ...payload })
  if (name === 'getOrSetState' && !before) states.set(key, payload)
  const now = new Date().toISOString()
  const owner = { type, name: stateName }
  const state = {
    id: `state_${key}`,
    createdAt: now,
    updatedAt: now,
    botId: '',
    ...owner,
    payload: states.get(key) ?? {},
  }
  return { state, meta: { cached: false } }
}

/** The example of the documentation with the fields of the call's input; lists are empty. */
function resembling(operation: Operation, input: JsonObject): JsonObject {
  const example = exampleOfAnswer('runtime', operation) as JsonObject
  const fields = Object.entries(example).map(([name, value]) => {
    if (Array.isArray(value)) return [name, []]
    if (name === 'output' || !isRecord(value)) return [name, isRecord(value) ? {} : value]
    // An empty list has no next page.
    if (name === 'meta') return [name, Object.hasOwn(value, 'nextToken') ? {} : value]
    const said = Object.entries(input).filter(([field]) => Object.hasOwn(value, field))
    return [name, { ...value, ...Object.fromEntries(said) }]
  })
  return Object.fromEntries(fields) as JsonObject
}

function toFetchAnswer({ url }: FetchRequest, given: unknown): FetchAnswer {
  const answer = isRecord(given) ? given : { body: given }
  const { status = 200, headers = {}, body = '' } = answer
  const isText = typeof body === 'string'
  return {
    status: Number(status),
    statusText: '',
    url,
    headers: Object.entries({
      'content-type': isText ? 'text/plain;charset=UTF-8' : 'application/json',
      ...(headers as Record<string, string>),
    }),
    body: isText ? body : JSON.stringify(body),
    isBase64: false,
  }
}

function notRequested({ method, url }: FetchRequest): FetchFailure {
  return {
    failure: 'forbidden',
    message: `${url} is not requested in a dry run: add its answer as "fetch": { "${method} ${url}": … } to --answers, or allow it with --allow-fetch`,
  }
}

async function requestIndeed(
  { method, url, headers, body, isBase64, redirect }: FetchRequest,
  signal: AbortSignal,
): Promise<FetchAnswer | FetchFailure> {
  try {
    const content = body === undefined ? undefined : Buffer.from(body, isBase64 ? 'base64' : 'utf8')
    const response = await fetch(url, { method, headers, redirect, signal, ...(content && { body: content }) })
    const bytes = Buffer.from(await response.arrayBuffer())
    return {
      status: response.status,
      statusText: response.statusText,
      url: response.url,
      headers: [...response.headers],
      body: bytes.toString('base64'),
      isBase64: true,
    }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return { failure: 'unreachable', message: `${url} cannot be requested: ${(cause as Error).message}` }
  }
}
