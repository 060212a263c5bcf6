import { AsyncLocalStorage } from 'node:async_hooks'

/** The fields of every log line written on behalf of one request, job or run: `requestId`, `jobId`, `botId`, … */
export type LogFields = Record<string, string | number | undefined>

const scopes = new AsyncLocalStorage<LogFields>()

/** Runs work whose log lines have these fields, beside those of the enclosing scope. */
export function withLogFields<Result>(fields: LogFields, work: () => Result): Result {
  return scopes.run({ ...scopes.getStore(), ...fields }, work)
}

/** Runs work whose log lines have the fields of a scope, including fields that are added to it later. */
export function inLogScope<Result>(scope: LogFields, work: () => Result): Result {
  return scopes.run(scope, work)
}

/** Adds fields to the following lines of the innermost scope. Does nothing outside of a scope. */
export function addLogFields(fields: LogFields): void {
  const scope = scopes.getStore()
  if (scope) Object.assign(scope, fields)
}

/** The fields of the innermost scope. */
export function logFields(): LogFields | undefined {
  return scopes.getStore()
}

/**
 * Opens a resource that outlives the request or job which first needs it, so that its log lines do not have their
 * fields.
 */
export function outsideOfScopes<Result>(work: () => Result): Result {
  return scopes.exit(work)
}
