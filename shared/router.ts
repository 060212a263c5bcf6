import { ApiError, notFound } from './errors.ts'
import type { Operation } from './rpc/operation.ts'
import * as operations from './operations/index.ts'
import { notApplicable, type NotApplicable } from './operations/not-applicable.ts'

export type PathParameters = Record<string, string>

interface Route {
  target: Operation | NotApplicable
  pattern: RegExp
}

/**
 * Fixed segments come before parameters, so that `/users/me` is not taken for a user called `me`. The operations that the
 * platform does not have are routes too, so that none of their words is taken for a parameter of another.
 */
const routes: Map<string, Route[]> = Map.groupBy(
  [...Object.values(operations), ...notApplicable]
    .map((target) => ({ target, pattern: toPattern(target.path) }))
    .toSorted((a, b) => (sortKey(a.target.path) < sortKey(b.target.path) ? -1 : 1)),
  ({ target }) => beginOf(target.path),
)

/** The first two segments of a path, without parameters: a few of the hundreds of routes share them with a request. */
function beginOf(path: string): string {
  const [first, second = '{'] = path.split('/').filter(Boolean)
  return second.startsWith('{') ? `/${first}` : `/${first}/${second}`
}

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
export const botOperations: Operation[] = Object.values(operations).filter(
  ({ access, isForLibraries }) => access === 'bot' && !isForLibraries,
)

/**
 * Finds the operation that answers a method and path. Empty segments are ignored, as published clients expect.
 *
 * @param path percent-encoded; parameters are decoded after the path is split, since ids may hold slashes
 * @throws ApiError `ResourceNotFound` when no operation has the path, `MethodNotFound` when none has it with the method, or when the published clients have it and the platform does not
 */
export function findOperation(method: string, path: string): { operation: Operation; parameters: PathParameters } {
  const segments = path.split('/').filter(Boolean)
  const normalised = `/${segments.join('/')}`
  const [first, second] = segments
  const candidates = [...(routes.get(`/${first}/${second}`) ?? []), ...(routes.get(`/${first}`) ?? [])]
  let methods: string[] = []
  for (const { target, pattern } of candidates) {
    const match = pattern.exec(normalised)
    if (!match) continue
    if (target.method !== method) {
      if (isOperation(target)) methods = [...methods, target.method]
      continue
    }
    if (!isOperation(target)) throw refusal(target)
    return { operation: target, parameters: decode(match.groups ?? {}) }
  }
  if (methods.length === 0) throw notFound(`Path ${path}`)
  throw new ApiError('MethodNotFound', `${path} takes ${methods.join(', ')}, not ${method}`)
}

function isOperation(target: Operation | NotApplicable): target is Operation {
  return !('reason' in target)
}

/** Not a status of 500 or above: clients of the public SDK would repeat the request. */
function refusal({ name, reason }: NotApplicable): ApiError {
  return new ApiError('MethodNotFound', `This platform does not have the operation ${name}: ${reason}`, {
    metadata: { operation: name, reason },
  })
}

function decode(encoded: Record<string, string>): PathParameters {
  const parameters: PathParameters = {}
  for (const [name, value] of Object.entries(encoded)) {
    parameters[name] = decodeSegment(value)
  }
  return parameters
}

/**
 * A segment of a path without its percent-encoding.
 *
 * @throws ApiError `InvalidPayload` when the encoding is malformed
 */
export function decodeSegment(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    throw new ApiError('InvalidPayload', `The path has a malformed percent-encoding: ${encoded}`)
  }
}
