import { ApiError, notFound } from './errors.ts'
import type { Operation } from './rpc/operation.ts'
import * as operations from './operations/index.ts'

export type PathParameters = Record<string, string>

interface Route {
  operation: Operation
  pattern: RegExp
}

/** Fixed segments come before parameters, so that `/users/me` is not taken for a user called `me`. */
const routes: Route[] = Object.values(operations)
  .map((operation) => ({ operation, pattern: toPattern(operation.path) }))
  .toSorted((a, b) => (sortKey(a.operation.path) < sortKey(b.operation.path) ? -1 : 1))

function toPattern(path: string): RegExp {
  const source = path
    .replaceAll('.', '\\.')
    .replaceAll(/\{(\w+)\*\}/g, '(?<$1>.+)')
    .replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')
  return new RegExp(`^${source}$`)
}

/** `~` comes after every character of a fixed segment. */
function sortKey(path: string): string {
  return path.replaceAll(/\{\w+\}/g, '~').replaceAll(/\{\w+\*\}/g, '~~')
}

/** The operations that bot code reaches as `client.<name>`. */
export const botOperations: Operation[] = Object.values(operations).filter(({ access }) => access === 'bot')

/**
 * Finds the operation that answers a method and path. Empty segments are ignored, as published clients expect.
 *
 * @param path percent-encoded; parameters are decoded after the path is split, since ids may hold slashes
 * @throws ApiError `ResourceNotFound` when no operation has the path, `MethodNotFound` when none has it with the method
 */
export function findOperation(method: string, path: string): { operation: Operation; parameters: PathParameters } {
  const normalised = `/${path.split('/').filter(Boolean).join('/')}`
  let methods: string[] = []
  for (const { operation, pattern } of routes) {
    const match = pattern.exec(normalised)
    if (!match) continue
    if (operation.method === method) return { operation, parameters: decode(match.groups ?? {}) }
    methods = [...methods, operation.method]
  }
  if (methods.length === 0) throw notFound(`Path ${path}`)
  throw new ApiError('MethodNotFound', `${path} takes ${methods.join(', ')}, not ${method}`)
}

function decode(encoded: Record<string, string>): PathParameters {
  const parameters: PathParameters = {}
  for (const [name, value] of Object.entries(encoded)) {
    try {
      parameters[name] = decodeURIComponent(value)
    } catch {
      throw new ApiError('InvalidPayload', `The path has a malformed percent-encoding: ${value}`)
    }
  }
  return parameters
}
