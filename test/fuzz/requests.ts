import type { Chances } from '../chaos/random.ts'
import { kindOf, type Api, type Operation } from './operations.ts'
import { firstOfKind, type Credentials, type Ids, type Tenant } from './tenant.ts'
import { mutate, oddTexts, oddValue, poorCodes, valueOf } from './values.ts'

/** A request, and the texts that its answer must not contain. */
export interface FuzzRequest {
  /** The id of its operation. */
  operation: string
  method: string
  path: string
  headers: Record<string, string>
  body?: string
  /** Texts of rows that the caller may not read. */
  forbidden: string[]
}

/** Requests that could delete rows that others need; they get only ids of rows that the run has made. */
const isDestructive = ({ method, id }: Operation) => method === 'DELETE' || (id.startsWith('admin') && method !== 'GET')

/** A random request of an operation: usually with a permitted caller and mostly valid fields. */
export function randomRequest(api: Api, own: Tenant, foreign: Tenant, chances: Chances): FuzzRequest {
  const operation = chances.pick(api.operations)
  const pool = isDestructive(operation) ? withoutFirst(own.ids) : own.ids
  const is = (probability: number) => chances.between(0, 1) < probability

  function idFor(name: string): unknown {
    const where = chances.between(0, 1)
    if (where < 0.1) return chances.pick(oddTexts)
    const ids = (where < 0.2 ? foreign.ids : pool)[kindOf(name, operation.path)] ?? []
    return ids.length > 0 ? chances.pick(ids) : 'none'
  }

  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    if (name === 'webhookId' && is(0.97)) return webhookIdOf(own)
    const { schema } = operation.parameters.find((parameter) => parameter.name === name) ?? { schema: {} }
    const value = /^id$|Id$/.test(name) ? idFor(name) : valueOf(schema, chances, api.resolve)
    return is(0.03) ? chances.pick(['%zz', '%', '%c3%28', '..', '%2f']) : encode(String(value))
  })
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && is(0.4))
    .map(({ name, schema }) => {
      const value = name.endsWith('Id')
        ? idFor(name)
        : is(0.6)
          ? valueOf(schema, chances, api.resolve)
          : oddValue(chances)
      return queryOf(name, value)
    })
  if (is(0.05))
    query.push(`${encode(chances.pick(oddTexts).slice(0, 200))}=${encode(chances.pick(oddTexts).slice(0, 200))}`)

  const right = is(0.85)
  const name = right
    ? chances.pick(namesFor(operation))
    : chances.pick(Object.keys(own.credentials) as CredentialName[])
  const headers: Record<string, string> = { ...own.credentials[name] }
  if (operation.method === 'POST' && is(0.2))
    headers['idempotency-key'] = `key-${Math.floor(chances.between(0, 1e15))}-${'x'.repeat(20)}`
  if (is(0.03))
    headers[chances.pick(Object.keys(headers).concat('x-integration-id'))] = chances.pick(['', 'x', 'Bearer', 'é'])
  if (operation.body)
    headers['content-type'] = is(0.97)
      ? typeOf(operation.body)
      : chances.pick(['text/plain', 'application/json; charset=x', 'multipart/form-data'])
  const body = operation.body && bodyOf(operation.body)

  function bodyOf({ schema, example, isForm }: NonNullable<Operation['body']>): string {
    let value: unknown = is(0.6) && example !== undefined ? example : valueOf(schema, chances, api.resolve)
    value = withIds(value, (field) => idFor(field))
    const { code, allowNoHooks } = schema.properties ?? {}
    if (code && is(0.3)) value = { ...(value as object), code: chances.pick(poorCodes) }
    if (allowNoHooks && is(0.5)) value = { ...(value as object), allowNoHooks: is(0.8) ? is(0.5) : oddValue(chances) }
    while (is(0.45)) value = mutate(value, chances)
    const text = value === undefined ? '' : isForm ? toForm(value) : JSON.stringify(value)
    if (is(0.03)) return text.slice(0, Math.floor(chances.between(0, text.length)))
    if (is(0.01)) return `${'['.repeat(20_000)}${text}${']'.repeat(20_000)}`
    return text
  }

  return {
    operation: operation.id,
    method: is(0.02) ? chances.pick(['HEAD', 'OPTIONS', 'PATCH', 'DELETE', 'PROPFIND']) : operation.method,
    path: query.length > 0 ? `${path}?${query.join('&')}` : path,
    headers,
    ...(body !== undefined && { body }),
    forbidden: [foreign.marker, foreign.privateMarker],
  }
}

const boundary = 'fuzz'

function typeOf({ isForm }: NonNullable<Operation['body']>): string {
  return isForm ? `multipart/form-data; boundary=${boundary}` : 'application/json'
}

/** A value as a form, whose field `file` is one. */
function toForm(value: unknown): string {
  const fields = Object.entries(typeof value === 'object' && value !== null ? value : { value })
  const parts = fields.map(([name, field]) => {
    const file = name === 'file' ? '; filename="a.mp3"\r\ncontent-type: audio/mpeg' : ''
    const text = typeof field === 'string' ? field : JSON.stringify(field)
    return `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`
  })
  return `${parts.join('')}--${boundary}--\r\n`
}

type CredentialName = keyof Tenant['credentials']

/**
 * Each operation on rows of the other tenant, with every credential of one tenant and with none; and on rows of another
 * chat user, with one chat user's credentials.
 */
export function matrixRequests(api: Api, own: Tenant, foreign: Tenant): FuzzRequest[] {
  const nobody: [name: CredentialName | undefined, headers: Credentials][] = [
    [undefined, {}],
    [undefined, { authorization: 'Bearer none', 'x-user-key': 'none', 'x-invitation': 'none' }],
  ]
  const all = [...nobody, ...(Object.entries(own.credentials) as [CredentialName, Credentials][])]
  const strangers = [foreign.marker, foreign.privateMarker]
  return api.operations.flatMap((operation) => {
    // Any client that knows the URL of a chat may become a user there.
    if (operation.security.length === 0) return []
    const ofTenant = all.flatMap(([name, headers]) =>
      foreignHeaders(headers, foreign).map((given) => {
        const chat = name?.endsWith('ser') ? own : foreign
        return matrixRequest(operation, given, { webhookId: webhookIdOf(chat), ids: foreign.ids, forbidden: strangers })
      }),
    )
    const isOfUsers = operation.security.flat().includes('userKey') && !isLeaving(operation)
    const ids = { ...own.privateIds, webhooks: own.ids['webhooks']! }
    const ofUser = { webhookId: webhookIdOf(own), ids, forbidden: [...strangers, own.privateMarker] }
    return isOfUsers ? [...ofTenant, matrixRequest(operation, own.credentials.user, ofUser)] : ofTenant
  })
}

interface Target {
  /** A chat user's key is valid for one chat: there, all rows in the request belong to others. */
  webhookId: string
  ids: Ids
  forbidden: string[]
}

function matrixRequest(
  operation: Operation,
  credentials: Credentials,
  { webhookId, ids, forbidden }: Target,
): FuzzRequest {
  const { id, method, path, body } = operation
  return {
    operation: id,
    method,
    path: foreignPath(operation, webhookId, ids),
    headers: { ...credentials, ...(body && { 'content-type': typeOf(body) }) },
    ...(body && {
      body: (body.isForm ? toForm : JSON.stringify)(withIds(body.example ?? {}, (field) => idIn(ids, field, path))),
    }),
    forbidden,
  }
}

/** A caller's headers unchanged, and with the workspace and bot of another tenant. */
function foreignHeaders(headers: Credentials, { ids }: Tenant): Credentials[] {
  if (headers['x-workspace-id'] === undefined) return [headers]
  return [headers, { ...headers, 'x-workspace-id': ids['workspaces']![0]!, 'x-bot-id': ids['bots']![0]! }]
}

function foreignPath({ path, parameters }: Operation, webhookId: string, ids: Ids): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    if (name === 'webhookId') return webhookId
    if (name === 'type') return 'bot'
    if (name === 'name') return 'seen'
    if (name === 'id' && path.includes('{type}')) return idIn(ids, 'botId', path)
    return encode(idIn(ids, name, path))
  })
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.name.endsWith('Id'))
    .map(({ name }) => `${name}=${encode(idIn(ids, name, path))}`)
  return query.length > 0 ? `${filled}?${query.join('&')}` : filled
}

function idIn(ids: Ids, name: string, path: string): string {
  return ids[kindOf(name, path)]?.[0] ?? 'none'
}

/** Whether the operation deletes the calling user. */
const isLeaving = ({ method, path }: Operation) => method === 'DELETE' && path.endsWith('/me')

function namesFor(operation: Operation): CredentialName[] {
  const { security } = operation
  if (isLeaving(operation)) return ['leavingUser']
  const schemes = new Set(security.flat())
  if (schemes.has('userKey')) return ['user', 'user', 'otherUser', 'leavingUser']
  if (schemes.has('invitation')) return ['invitation']
  if (schemes.has('botId')) return ['owner', 'bot', 'integration']
  return schemes.size > 0 ? ['owner', 'owner', 'viewer'] : ['user']
}

function withIds(value: unknown, idFor: (field: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withIds(item, idFor))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [
      field,
      field.endsWith('Id') && typeof inner === 'string' ? idFor(field) : withIds(inner, idFor),
    ]),
  )
}

function withoutFirst(ids: Ids): Ids {
  return Object.fromEntries(Object.entries(ids).map(([kind, known]) => [kind, known.slice(firstOfKind)]))
}

function webhookIdOf({ ids }: Tenant): string {
  return ids['webhooks']![0]!
}

function queryOf(name: string, value: unknown): string {
  if (Array.isArray(value))
    return value
      .slice(0, 20)
      .map((item) => `${name}=${encode(String(item))}`)
      .join('&')
  if (typeof value !== 'object' || value === null) return `${name}=${encode(String(value))}`
  const entries = Object.entries(value).slice(0, 20)
  return entries.map(([key, inner]) => `${name}.${encode(key)}=${encode(String(inner))}`).join('&')
}

/** Encodes as clients do. A lone surrogate has no encoding. The URL's length limit has tests of its own. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed().slice(0, 1000).toWellFormed())
}
