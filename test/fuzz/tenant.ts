import { randomBytes } from 'node:crypto'
import { send } from '../support/platform.ts'
import type { FuzzPlatform } from './platform.ts'

/** Headers that identify the caller. */
export type Credentials = Record<string, string>

/** Ids by kind of row, named as in paths: `users`, `conversations`, `bots`. */
export type Ids = Record<string, string[]>

/** A workspace with a bot, an integration, members, chat users, and a row of each kind. */
export interface Tenant {
  /** Contained in texts of all its rows: an answer with this text reveals one of them. */
  marker: string
  /** Contained in the rows that only one of the chat users may read, as long as that user adds no participant. */
  privateMarker: string
  /** The ids of these rows. */
  privateIds: Ids
  chatUrl: string
  credentials: Record<
    'owner' | 'viewer' | 'bot' | 'integration' | 'user' | 'otherUser' | 'leavingUser' | 'invitation',
    Credentials
  >
  ids: Ids
}

const botCode = (marker: string) => `
  export const actions = { echo: ({ input }) => input }
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      if (event.preview === 'fail') throw new Error(${JSON.stringify(marker)})
      await client.createMessage({
        conversationId: event.conversationId, type: 'text', payload: { text: ${JSON.stringify(marker)} },
      })
    },
  }`

const integrationCode = `
  export const actions = { echo: ({ input }) => input }
  export function handler({ request }) { return { body: { length: (request.body ?? '').length } } }`

/** Makes a tenant through the API, as users do. */
export async function openTenant({ url, addMember }: FuzzPlatform): Promise<Tenant> {
  const marker = `marker-${randomBytes(8).toString('hex')}`
  const privateMarker = `private-${randomBytes(8).toString('hex')}`
  const ids: Ids = {}
  const privateIds: Ids = {}

  /** Sends a request that must succeed, and keeps the ids in the answer. */
  async function make(method: string, path: string, body: unknown, headers: Credentials, into = ids) {
    const ask = () => send(method, path.startsWith('http') ? path : `${url}${path}`, body, headers)
    let answer = await ask()
    // On a busy machine, the inspection of code can take longer than a request waits. Nothing was changed then.
    if (answer.status === 504) answer = await ask()
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    harvest(into, path, answer.body)
    // oxlint-disable-next-line typescript/no-unsafe-return -- Answers are read field by field.
    return answer.body
  }

  const { token, workspaceId, accountId, tokenId } = await addMember('owner')
  const owner = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId }
  const { token: viewerToken, accountId: viewerId } = await addMember('viewer', workspaceId)
  const { bot } = await make('POST', '/v1/admin/bots', { name: marker, code: botCode(marker) }, owner)
  const integration = { name: marker, version: '1.0.0', code: integrationCode }
  const { integration: created } = await make('POST', '/v1/admin/integrations', integration, owner)
  const { body: inbox } = await send('GET', `${url}/v1/admin/hub/integrations/inbox/latest`, undefined, owner)
  const integrations = {
    tool: { integrationId: created.id, enabled: true, configuration: {} },
    // Without a token, a bot's replies would be no secret.
    chat: { configuration: { converse: 'secured' } },
    inbox: { integrationId: inbox.integration.id },
  }
  const installed = await make('PUT', `/v1/admin/bots/${bot.id}`, { integrations }, owner)
  await make('GET', `/v1/admin/bots/${bot.id}/versions`, undefined, owner)
  for (const holder of ['account', 'workspaces']) {
    await make('POST', `/v1/admin/${holder}/preferences/editor`, { value: marker }, owner)
  }
  const bak = await make('POST', '/v1/admin/bots/baks', { botId: bot.id, note: marker }, owner)
  const iak = await make('POST', '/v1/admin/integrations/iaks', { integrationId: created.id, note: marker }, owner)
  const member = { email: `${marker}@example.com`, role: 'viewer' }
  const invited = await make('POST', '/v1/admin/workspace-members', member, owner)
  const chatUrl: string = bot.integrations.chat.webhookUrl.replace(/^https?:\/\/[^/]+/, url)

  const asBot = { authorization: `Bearer ${token}`, 'x-bot-id': bot.id as string }
  const credentials: Tenant['credentials'] = {
    owner: { ...owner, ...asBot },
    viewer: { ...owner, ...asBot, authorization: `Bearer ${viewerToken}` },
    bot: { ...owner, ...asBot, authorization: `Bearer ${bak.value}` },
    integration: { ...owner, ...asBot, authorization: `Bearer ${iak.value}` },
    user: {},
    otherUser: {},
    leavingUser: {},
    invitation: { 'x-invitation': invited.invitation as string },
  }
  for (const [name, text] of [
    ['user', marker],
    ['otherUser', privateMarker],
    ['leavingUser', marker],
  ] as const) {
    const into = name === 'otherUser' ? privateIds : ids
    const { key } = await make('POST', `${chatUrl}/users`, { name: text, profile: text }, {}, into)
    const headers = { 'x-user-key': key as string }
    credentials[name] = headers
    const { conversation } = await make('POST', `${chatUrl}/conversations`, {}, headers, into)
    const conversationId: string = conversation.id
    for (const said of [text, 'fail']) {
      const message = { conversationId, payload: { type: 'text', text: said } }
      await make('POST', `${chatUrl}/messages`, message, headers, into)
    }
    await make('POST', `${chatUrl}/events`, { conversationId, payload: { text } }, headers, into)
  }
  await make('POST', `/api/v1/bots/${bot.id}/converse/${marker}/secured`, { text: marker }, asBot)
  const user = await make('POST', '/v1/chat/users', { name: marker, tags: {} }, asBot)
  const { conversation } = await make('POST', '/v1/chat/conversations', { channel: 'chat', tags: {} }, asBot)
  const of = { conversationId: conversation.id as string, userId: user.user.id as string }
  await make('POST', `/v1/chat/conversations/${of.conversationId}/participants`, { userId: of.userId }, asBot)
  const { handover } = await make(
    'POST',
    `/v1/chat/conversations/${of.conversationId}/handover`,
    { title: marker },
    asBot,
  )
  await make('POST', `/v1/admin/bots/${bot.id}/handovers/${handover.id}/notes`, { text: marker }, owner)
  const person = { type: 'inbox:createUser', input: { name: marker, email: marker } }
  const { userId } = (await make('POST', '/v1/chat/actions', person, asBot)).output as { userId: string }
  const messageHistory = [{ source: { type: 'user', userId }, type: 'text', payload: { text: marker } }]
  const session = { type: 'inbox:startHitl', input: { userId, title: marker, messageHistory } }
  await make('POST', '/v1/chat/actions', session, asBot)
  await make('POST', '/v1/admin/canned-replies', { shortcut: 'hello', text: marker }, owner)
  await make('POST', '/v1/chat/messages', { ...of, type: 'text', payload: { text: marker }, tags: {} }, asBot)
  await make('POST', '/v1/chat/events', { ...of, type: 'custom', payload: { text: marker } }, asBot)
  await make('POST', '/v1/chat/workflows', { name: 'order', status: 'pending', input: { text: marker } }, asBot)
  await make('POST', `/v1/chat/states/bot/${bot.id}/seen`, { payload: { text: marker } }, asBot)

  for (const headers of [asBot, { ...asBot, authorization: `Bearer ${iak.value}` }]) {
    const description = { key: marker, size: 1, tags: { marker }, metadata: { marker } }
    const { file } = await make('PUT', '/v1/files', description, headers)
    await fetch((file.uploadUrl as string).replace(/^https?:\/\/[^/]+/, url), { method: 'PUT', body: marker })
  }
  const name = `_${marker.replace('-', '_')}_Table`
  const schema = { name: { type: 'string' }, total: { type: 'number' } }
  const { table } = await make('POST', '/v1/tables', { name, schema, tags: { marker } }, asBot)
  await make('POST', `/v1/tables/${name}/rows`, { rows: [{ name: marker, total: 1 }] }, asBot)
  ids['tables'] = [table.id as string, name]
  await make('PUT', '/v1/admin/models/budget', { botId: bot.id, budget: { dayTokens: 1_000_000_000 } }, owner)
  await make('POST', '/v2/cognitive/generate-text', { messages: [{ role: 'user', content: marker }] }, asBot)
  await make('POST', '/v1/files/knowledge-bases', { name: marker, tags: { marker } }, asBot)

  // With an invalid credential, every request would be refused and the run would find no fault.
  for (const name of ['owner', 'viewer'] as const) await make('GET', '/v1/admin/bots', undefined, credentials[name])
  for (const name of ['bot', 'integration'] as const) await make('GET', '/v1/chat/users', undefined, credentials[name])
  for (const name of ['user', 'otherUser', 'leavingUser'] as const) {
    await make('GET', `${chatUrl}/users/me`, undefined, credentials[name])
  }
  await make('GET', '/v1/admin/account/invitation', undefined, credentials.invitation)

  ids['accounts'] = ids['workspace-members'] = [accountId, viewerId]
  ids['workspaces'] = [workspaceId]
  ids['pats'] = [tokenId]
  ids['webhooks'] = [bot.integrations.chat.webhookId, installed.bot.integrations.tool.webhookId]
  return { marker, privateMarker, privateIds, chatUrl, credentials, ids }
}

/** The number of ids per kind that are always kept: the first ones, from the tenant's creation. */
export const firstOfKind = 12
const keptOfKind = 40

/** Keeps the ids in an answer: those of objects, also in lists, and those in fields called `…Id`. */
export function harvest(ids: Ids, path: string, answer: unknown): void {
  const keep = (kind: string, id: unknown): void => {
    if (typeof id !== 'string' || id.length > 200) return
    const known = (ids[kind] ??= [])
    if (known.includes(id)) return
    known.push(id)
    if (known.length > keptOfKind) known.splice(firstOfKind, 1)
  }
  const walk = (value: unknown, kind: string): void => {
    if (Array.isArray(value)) return value.forEach((item) => walk(item, kind))
    if (typeof value !== 'object' || value === null) return
    for (const [field, inner] of Object.entries(value)) {
      if (field === 'id') keep(kind, inner)
      else if (field.endsWith('Id')) keep(`${field.slice(0, -2)}s`, inner)
      else walk(inner, Array.isArray(inner) ? field : `${field}s`)
    }
  }
  walk(
    answer,
    path
      .split('?')[0]!
      .split('/')
      .findLast((segment) => /^[a-z-]+$/.test(segment)) ?? '',
  )
}
