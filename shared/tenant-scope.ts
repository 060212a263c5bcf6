import { AsyncLocalStorage } from 'node:async_hooks'

/** The tenant on whose behalf work is done, by whose share of common resources the work is bounded. */
export interface TenantScope {
  tenant: string
  /** The work is a call of code in the sandbox: the limits of its run bound the number of calls, and the time that they wait. */
  isOfCode: boolean
  /** The work has had a connection: it may have written, and is not refused any more. */
  hasBegun?: true
  /** The work holds one of the slots of work that may take long. */
  isSlow?: true
}

const scopes = new AsyncLocalStorage<TenantScope>()

/** Does work on behalf of a tenant. */
export function asTenant<Result>(scope: TenantScope, work: () => Result): Result {
  return scopes.run(scope, work)
}

/** The innermost scope; undefined for work of the platform itself. */
export function tenantScope(): TenantScope | undefined {
  return scopes.getStore()
}

/** Does work that a tenant has caused and that is not bounded by its share, such as work for several tenants together. */
export function outsideOfTenants<Result>(work: () => Result): Result {
  return scopes.exit(work)
}
