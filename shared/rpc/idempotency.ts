import { createHash } from 'node:crypto'
import type { Caller } from './caller.ts'
import type { Context } from '../context.ts'
import { deferUntilCommit } from './commit-hooks.ts'
import { ApiError, lockNotAvailable, postgresCode } from '../errors.ts'
import type { Operation } from './operation.ts'
import { decryptJson, encryptJson } from '../secrets.ts'
import { storeReply, releaseKey, claimKey, type IdempotencyKeyRow } from '../store/idempotency-keys.ts'
import { transact } from '../store/database.ts'

/**
 * A client that received no answer does not know whether its request was carried out. With the header `Idempotency-Key`
 * it may repeat the request (IETF draft-ietf-httpapi-idempotency-key-header): the request is carried out once, and each
 * repetition within 24 hours receives the answer of the first. A request that fails leaves no trace of its key.
 */

const longestKey = 255

/**
 * A visitor has no secret, so its idempotency key acts as one: a client that guesses it receives the new user's key. An
 * invitation is no substitute, because its issuer knows it too.
 */
const shortestKeyOfVisitors = 20

export interface KeyedRequest {
  /** The header's value. */
  key: string
  operation: Operation
  input: unknown
}

type CallerContext = Context & { caller: Caller }

/**
 * Carries out a request with an idempotency key, unless an earlier request with the same key was carried out.
 *
 * @returns the body of the answer, and whether it is that of an earlier request
 * @throws ApiError the errors of the operation; `InvalidPayload` (400) when the key is malformed, and (422) when it was
 *   sent with another request; `ResourceLockedConflict` while the earlier request is in flight
 */
export async function dispatchOnce(
  context: CallerContext,
  request: KeyedRequest,
): Promise<{ body: unknown; isRepeated: boolean }> {
  const key = readKey(request.key, context.caller)
  const record = toRecord(context, { ...request, key })
  return awaitsWorker(request)
    ? dispatchInSteps(context, request, record)
    : dispatchInTransaction(context, request, record)
}

function awaitsWorker({ operation, input }: KeyedRequest): boolean {
  const awaits = operation.awaitsWorker
  return typeof awaits === 'object' ? (input as Record<string, unknown>)[awaits.field] === true : awaits
}

/** The draft specifies a quoted string (RFC 8941); most clients send it bare. */
function readKey(header: string, caller: Caller): string {
  const [, key = ''] = /^"?([\x21\x23-\x7e]+)"?$/.exec(header.trim()) ?? []
  const isVisitor = caller.kind === 'visitor' || caller.kind === 'invitee'
  const shortest = isVisitor ? shortestKeyOfVisitors : 1
  if (key.length >= shortest && key.length <= longestKey) return key
  throw new ApiError(
    'InvalidPayload',
    `The header Idempotency-Key must have ${shortest} to ${longestKey} printable ASCII characters without spaces or ` +
      'quotes: send a fresh UUID with each new request',
  )
}

/** The body of the answer, or the event whose outcome the answer is. */
type Kept = { body: unknown } | { eventId: string }

interface IdempotencyRecord {
  id: Buffer
  fingerprint: Buffer
  encrypt(kept: Kept): Promise<string>
  decrypt(reply: string): Promise<Kept>
}

function toRecord({ caller, config }: CallerContext, { key, operation, input }: KeyedRequest): IdempotencyRecord {
  const owner = JSON.stringify([ownerOf(caller), operation.method, operation.path, key])
  // The key is part of the encryption key: a copy of the database and the platform's secret do not suffice to read
  // answers.
  const purpose = `idempotency key ${owner}`
  return {
    id: sha256(owner),
    fingerprint: sha256(JSON.stringify(input)),
    encrypt: (kept) => encryptJson(config.secret, purpose, kept),
    decrypt: async (reply) => (await decryptJson(config.secret, purpose, reply)) as Kept,
  }
}

/** The identity to which a key belongs: equal keys of different callers are unrelated. */
function ownerOf(caller: Caller): string[] {
  switch (caller.kind) {
    case 'visitor':
      return [caller.kind, caller.installation.id]
    case 'user':
      return [caller.kind, caller.installation.id, caller.key.boundUserId ?? caller.externalId]
    case 'bot':
      return [caller.kind, caller.botId, caller.installation?.id ?? '']
    case 'account':
      return [caller.kind, caller.accountId]
    case 'invitee':
    case 'administrator':
      return [caller.kind, caller.workspaceId, caller.accountId]
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Commits the key together with the request's writes, because the process may die at any moment. */
async function dispatchInTransaction(
  context: CallerContext,
  { operation, input }: KeyedRequest,
  record: IdempotencyRecord,
) {
  const { caller, db } = context
  const done = await transact(db, async (transaction) => {
    const earlier = await claimKey(transaction, record.id, record.fingerprint)
    // Writes of a transaction leave no event that goes on after a failure.
    if (earlier) return { body: ((await recall(earlier, record)) as { body: unknown }).body, isRepeated: true }
    const deferred = deferUntilCommit(context, transaction)
    const body = await operation.call({ ...deferred.context, caller }, input)
    await storeReply(transaction, record.id, await record.encrypt({ body }))
    return { body, isRepeated: false, follow: () => deferred.follow() }
  }).catch((error: unknown) => {
    throw postgresCode(error) === lockNotAvailable ? inFlight(error) : error
  })
  if ('follow' in done) await done.follow()
  return { body: done.body, isRepeated: done.isRepeated }
}

/**
 * An operation that awaits a worker cannot be one transaction, because the worker would not see its writes. The key is
 * committed first. If the process dies before the answer is stored, the outcome of the request is unknown, and a
 * repetition receives an error that says so. A request that waits no longer, while its event goes on, keeps the event under
 * its key: a repetition waits for the same event.
 */
async function dispatchInSteps(context: CallerContext, { operation, input }: KeyedRequest, record: IdempotencyRecord) {
  const { db } = context
  const earlier = await db.transaction((transaction) => claimKey(transaction, record.id, record.fingerprint))
  const kept = earlier && (await recall(earlier, record))
  if (kept && 'body' in kept) return { body: kept.body, isRepeated: true }
  const awaited: NonNullable<Context['awaited']> = { ...kept }
  try {
    const body = await operation.call({ ...context, awaited }, input)
    await storeReply(db, record.id, await record.encrypt({ body }))
    return { body, isRepeated: kept !== undefined }
  } catch (error) {
    const { eventId } = awaited
    const { status, type } = ApiError.from(error)
    // A repetition that is refused because too many wait has not learned how its event ended.
    const isUndecided = status >= 500 || (kept !== undefined && type === 'RateLimited')
    const goesOn = eventId !== undefined && isUndecided
    await (goesOn ? storeReply(db, record.id, await record.encrypt({ eventId })) : releaseKey(db, record.id))
    throw error
  }
}

async function recall({ fingerprint, reply }: IdempotencyKeyRow, record: IdempotencyRecord): Promise<Kept> {
  if (!fingerprint.equals(record.fingerprint)) {
    throw new ApiError(
      'InvalidPayload',
      'This Idempotency-Key was used with a different request: send a fresh key with each new request',
      { status: 422 },
    )
  }
  if (reply === null) throw inFlight()
  return record.decrypt(reply).catch((cause: unknown) => {
    throw new ApiError(
      'InvalidPayload',
      'The request with this Idempotency-Key has been carried out, and its answer was encrypted with a secret that the ' +
        'platform does not accept any more: check its effects, and send what is missing with a fresh key',
      { status: 422, cause },
    )
  })
}

function inFlight(cause?: unknown): ApiError {
  return new ApiError(
    'ResourceLockedConflict',
    'The request with this Idempotency-Key is in progress: try again in a moment. If this lasts for minutes, the ' +
      'process that handled it has died: check its effects, and send the missing part with a fresh key',
    { cause, retryAfterSeconds: 1 },
  )
}
