import { ApiError, notFound } from '../../errors.ts'
import type { Database } from '../../store/database.ts'
import { findFile } from '../../store/runtime-files.ts'
import type { Scope } from '../../store/scope.ts'

/** The error for a file that does not exist or that the caller may not read, which it does not distinguish. */
export function noFile(idOrKey: string): ApiError {
  return notFound(`File '${idOrKey}'`)
}

export function noKnowledgeBase(id: string): ApiError {
  return notFound(`Knowledge base '${id}'`)
}

/** The error for a file that the caller cannot change: it is another's, if the caller may read it, or not found. */
export async function notOwn(db: Database, scope: Scope, idOrKey: string): Promise<ApiError> {
  if (!(await findFile(db, scope, idOrKey))) return noFile(idOrKey)
  return new ApiError('Forbidden', `The file '${idOrKey}' is not of this integration: it may only read it`)
}
