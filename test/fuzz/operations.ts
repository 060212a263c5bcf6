import type { Resolve, Schema } from './values.ts'

/** An operation as described in `/openapi.json`. */
export interface Operation {
  id: string
  method: string
  path: string
  /** The accepted credentials: alternatives, each with all of its schemes. */
  security: string[][]
  parameters: { in: string; name: string; schema: Schema }[]
  body?: { schema: Schema; example: unknown; isForm: boolean }
}

export interface Api {
  operations: Operation[]
  resolve: Resolve
}

interface Document {
  paths: Record<string, Record<string, DescribedOperation>>
  components: Record<string, Record<string, unknown>>
}

interface DescribedOperation {
  operationId: string
  security?: Record<string, unknown>[]
  parameters?: (Operation['parameters'][number] & { $ref?: string })[]
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> }
}

/** They need no id to delete the caller, as whom further requests are sent. */
const endsCallers = new Set(['deleteAccount'])

/**
 * Reads the operations of a platform, so that new ones are included without a change here.
 *
 * @param prefixes of the paths of the operations to include
 */
export async function readApi(url: string, prefixes = ['/']): Promise<Api> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document
  const resolveAny = (reference: string): unknown => {
    const [, , kind = '', name = ''] = reference.split('/')
    return document.components[kind]?.[name]
  }
  const included = Object.entries(document.paths).filter(([path]) => prefixes.some((prefix) => path.startsWith(prefix)))
  const operations = included.flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => {
      if (endsCallers.has(described.operationId)) return []
      const content = described.requestBody?.content ?? {}
      const form = content['multipart/form-data']
      const body = form ?? content['application/json']
      return {
        id: described.operationId,
        method: method.toUpperCase(),
        path,
        security: (described.security ?? []).map((schemes) => Object.keys(schemes)),
        parameters: (described.parameters ?? []).map((parameter) =>
          parameter.$ref === undefined ? parameter : (resolveAny(parameter.$ref) as Operation['parameters'][number]),
        ),
        ...(body && { body: { schema: body.schema, example: body.example, isForm: form !== undefined } }),
      }
    }),
  )
  return { operations, resolve: (reference) => resolveAny(reference) as Schema }
}

/**
 * The kind of row that an id in a parameter or field belongs to, named as in paths: `{id}` in `/bots/{id}` belongs to
 * `bots`.
 */
export function kindOf(name: string, path: string): string {
  if (name.length > 2 && name.endsWith('Id')) return `${name.slice(0, -2)}s`
  const segments = path.split('/')
  const before = segments.slice(0, segments.indexOf(`{${name}}`)).findLast((segment) => /^[a-z-]+$/.test(segment)) ?? ''
  return ['failed-events', 'scheduled'].includes(before) ? 'events' : before
}
