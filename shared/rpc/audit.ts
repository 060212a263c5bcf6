import type { Access, Caller } from './caller.ts'
import { isRole } from './caller.ts'
import type { Context } from '../context.ts'
import { ApiError } from '../errors.ts'
import { newId } from '../ids.ts'
import { beginRecord, endRecord, deleteRecord } from '../store/audit.ts'

/** The parts of an operation's declaration that decide whether and how it is recorded. */
export interface AuditedOperation {
  name: string
  method: string
  path: string
  access: Access
  changesNothing: boolean
  recordsMembers: boolean
  auditedFields: readonly string[]
}

/**
 * Whether an operation is an administrative action and is recorded. An operation that is none, although its method is
 * not GET, declares `changesNothing`.
 */
export function isAudited({ method, access, changesNothing, recordsMembers }: AuditedOperation): boolean {
  return (
    method !== 'GET' &&
    !changesNothing &&
    (recordsMembers || isRole(access) || access === 'account' || access === 'invitee')
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
): Promise<Output> {
  const { db, log } = context
  const caller = personOf(context.caller)
  if (!caller) return act()
  const parameters = [...operation.path.matchAll(/\{(\w+)\*?\}/g)].map(([, parameter]) => parameter!)
  const input: Record<string, unknown> = { ...given }
  const id = newId('audit')
  const target = parameters.at(-1)
  await beginRecord(db, {
    id,
    workspaceId: caller.workspaceId,
    accountId: caller.accountId,
    email: caller.email,
    operation: operation.name,
    fields: describeFields(operation, input, parameters),
    resourceId: target === undefined ? null : String(input[target]),
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
