import { AsyncLocalStorage } from 'node:async_hooks'

/** What every line of the log bears that is written on behalf of the same thing: `requestId`, `jobId`, `botId`, … */
export type LogFields = Record<string, string | number | undefined>

const scopes = new AsyncLocalStorage<LogFields>()

/** Does something whose lines bear these fields, beside those of the scope that it is done in. */
export function withLogFields<Result>(fields: LogFields, work: () => Result): Result {
  return scopes.run({ ...scopes.getStore(), ...fields }, work)
}

/** Does something whose lines bear the fields of a scope, those included that are added to it later. */
export function inLogScope<Result>(scope: LogFields, work: () => Result): Result {
  return scopes.run(scope, work)
}

/** Adds what has become known to the lines that follow in the innermost scope. Outside of any, it is forgotten. */
export function addLogFields(fields: LogFields): void {
  const scope = scopes.getStore()
  if (scope) Object.assign(scope, fields)
}

/** The fields of the innermost scope. */
export function logFields(): LogFields | undefined {
  return scopes.getStore()
}

/** Opens what outlives the request or job that happened to need it first: its lines are not theirs. */
export function outsideOfScopes<Result>(work: () => Result): Result {
  return scopes.exit(work)
}
