import type { Access, Caller } from './caller.ts'
import { isForMembers } from './caller.ts'
import type { Context } from '../context.ts'
import { ApiError } from '../errors.ts'
import { newId } from '../ids.ts'
import { signReading } from '../secrets.ts'
import { beginRecord, endRecord, deleteRecord, hasReading } from '../store/audit.ts'

/** The parts of an operation's declaration that decide whether and how it is recorded. */
export interface AuditedOperation {
  name: string
  method: string
  path: string
  access: Access
  changesNothing: boolean
  recordsMembers: boolean
  recordsReading: boolean
  auditedFields: readonly string[]
}

/**
 * Whether an operation is an administrative action and is recorded. An operation that is none, although its method is
 * not GET, declares `changesNothing`; one that reads what others said declares `recordsReading`.
 */
export function isAudited(operation: AuditedOperation): boolean {
  const { method, access, changesNothing, recordsMembers, recordsReading } = operation
  if (recordsReading) return true
  return (
    method !== 'GET' &&
    !changesNothing &&
    (recordsMembers || isForMembers(access) || access === 'account' || access === 'invitee')
  )
}

/**
 * Performs an administrative action and records who performed it. The record is inserted first: when the process dies
 * half-way, the record remains, with an unknown outcome. A refused action changed nothing and leaves no record.
 */
export async function recorded<Output>(
  context: Context & { caller: Caller },
  operation: AuditedOperation,
  given: object,
  act: () => Promise<Output>,
  id = newId('audit'),
): Promise<Output> {
  const { db, log } = context
  const caller = personOf(context.caller)
  if (!caller) return act()
  await beginRecord(db, {
    id,
    workspaceId: caller.workspaceId,
    accountId: caller.accountId,
    email: caller.email,
    operation: operation.name,
    ...subjectOf(operation, given),
  })
  let output: Output
  try {
    output = await act()
  } catch (error) {
    // After a database error, a transaction accepts no statement; its rollback removes the record.
    if (ApiError.from(error).status < 500) await deleteRecord(db, id).catch(() => undefined)
    throw error
  }
  try {
    await endRecord(db, id, resourceOf(output))
  } catch (error) {
    if (db.isTransaction) throw error
    log.error({ err: error, operation: operation.name }, 'Recording the outcome of an administrative action failed')
  }
  return output
}

/** A reading whose record is older than this is recorded again when it goes on. */
const maxReadingMilliseconds = 12 * 3600 * 1000

/** The input fields of an operation that continue a reading, and do not change what it is about. */
const continuing = ['reading', 'nextToken', 'pageSize']

/**
 * Reads what others said and records who read it, once for each opening: the answer names the record in `reading`, and
 * a request that repeats it, for the next page or for news, is part of the same reading. The record must be the caller's,
 * of the same resource and with fields of the same names. A search for other values is another reading: `reading` is signed
 * for them, since the record does not keep what was searched for.
 */
export async function recordedReading<Output extends object>(
  context: Context & { caller: Caller },
  operation: AuditedOperation,
  given: object,
  act: () => Promise<Output>,
): Promise<Output> {
  const { reading, ...others } = given as { reading?: string }
  const asked = Object.fromEntries(Object.entries(others).filter(([name]) => !continuing.includes(name)))
  const subject = subjectOf(operation, asked)
  const nameOf = (id: string) => (subject.fields === '' ? id : `${id}.${signSearch(context, id, asked)}`)
  const caller = personOf(context.caller)
  const [presentId = ''] = reading?.split('.') ?? []
  if (reading !== undefined && reading === nameOf(presentId) && caller) {
    const since = new Date(Date.now() - maxReadingMilliseconds)
    const { accountId, workspaceId } = caller
    const known = { id: presentId, accountId, workspaceId, since, ...subject }
    if (await hasReading(context.db, known)) return { ...(await act()), reading }
  }
  const id = newId('audit')
  return { ...(await recorded(context, operation, asked, act, id)), reading: nameOf(id) }
}

function signSearch({ config }: Context, id: string, asked: Record<string, unknown>): string {
  const values = Object.entries(asked).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return signReading(config.secret.current, JSON.stringify([id, values]))
}

/** The resource of a request, which is the last parameter of its path, and the other fields that it has. */
function subjectOf(operation: AuditedOperation, given: object): { resourceId: string | null; fields: string } {
  const parameters = [...operation.path.matchAll(/\{(\w+)\*?\}/g)].map(([, parameter]) => parameter!)
  const input: Record<string, unknown> = { ...given }
  const target = parameters.at(-1)
  return {
    resourceId: target === undefined ? null : String(input[target]),
    fields: describeFields(operation, input, parameters),
  }
}

/** The person who acts. Undefined for callers that are programs, and for users of a chat. */
function personOf(caller: Caller): { accountId: string; workspaceId: string | null; email: string | null } | undefined {
  switch (caller.kind) {
    case 'administrator':
      return { ...caller, email: null }
    case 'invitee':
      return caller
    case 'account':
      return { ...caller, workspaceId: null, email: null }
    case 'bot':
      return caller.member && { ...caller.member, email: null }
    default:
      return undefined
  }
}

/** Contains names only, unless a field is declared as audited: values may be secrets, or megabytes of code. */
function describeFields(
  { auditedFields }: AuditedOperation,
  input: Record<string, unknown>,
  parameters: string[],
): string {
  const given = Object.keys(input).filter((name) => input[name] !== undefined && !parameters.includes(name))
  return given.map((name) => (auditedFields.includes(name) ? `${name}=${String(input[name])}` : name)).join(', ')
}

/** The resource of an answer: the answer itself or its only field, if that has an id. */
function resourceOf(output: unknown): { id?: string; name?: string } {
  const fields = Object.values(output ?? {})
  for (const candidate of [output, fields.length === 1 ? fields[0] : undefined]) {
    const { id, name } = (candidate ?? {}) as { id?: unknown; name?: unknown }
    if (typeof id === 'string') return { id, ...(typeof name === 'string' && { name }) }
  }
  return {}
}
