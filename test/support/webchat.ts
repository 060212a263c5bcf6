import { expect } from 'vitest'
import { openStream, type EventStream, type Frame } from './event-stream.ts'
import { send, type Answer, type Platform } from './platform.ts'

/** Installs the web chat on a bot as published tools do. @returns its address */
export async function installWebchat(platform: Platform, botId: string, configuration: object = {}): Promise<string> {
  const { body: found } = await platform.ask('GET', '/v1/admin/hub/integrations/webchat/0.3.0')
  const webchat = { integrationId: found.integration.id, enabled: true, configuration }
  const answer = await platform.ask('PUT', `/v1/admin/bots/${botId}`, { integrations: { webchat } })
  if (answer.status !== 200) throw new Error(`installing: ${JSON.stringify(answer.body)}`)
  return answer.body.bot.integrations.webchat.webhookUrl
}

/** A visitor with an open conversation, who sends what the published web chat sends. */
export interface Visitor {
  stream: EventStream
  /** The data of the first frame. */
  // oxlint-disable-next-line typescript/no-explicit-any
  init: any
  key: string
  conversationId: string
  ask(method: string, path: string, body?: unknown): Promise<Answer>
  say(payload: object, metadata?: object): Promise<Answer>
  /** Says that the conversation is open, as the web chat does after each `init`. */
  start(): Promise<Answer>
  /** The frames after the first, once there are as many. */
  heard(count: number): Promise<Frame[]>
}

/** Opens a conversation. */
export async function visit(
  url: string,
  { key, conversationId, origin }: { key?: string; conversationId?: string; origin?: string } = {},
): Promise<Visitor> {
  const query = conversationId === undefined ? '' : `?conversationId=${conversationId}`
  const headers = { timeout: '60000', ...(key && { 'x-user-key': key }), ...(origin && { origin }) }
  const stream = await openStream(`${url}/initialize${query}`, headers)
  await expect.poll(() => stream.frames().length, { timeout: 10_000, interval: 10 }).toBeGreaterThan(0)
  const { type, data: init } = stream.frames()[0]!
  if (type !== 'init') throw new Error(`The first frame is ${type}`)
  const userKey: string = init.user.userKey
  const opened: string = init.conversation.id
  const ask: Visitor['ask'] = (method, path, body) =>
    send(method, `${url}${path}`, body, { 'x-user-key': userKey, ...(origin && { origin }) })
  return {
    stream,
    init,
    key: userKey,
    conversationId: opened,
    ask,
    say: (payload, metadata) =>
      ask('POST', '/messages', { conversationId: opened, payload, ...(metadata && { metadata }) }),
    start: () =>
      ask('POST', '/events', { conversationId: opened, payload: { type: 'conversation_started', data: {} } }),
    async heard(count) {
      await expect
        .poll(() => stream.frames().length - 1, { timeout: 10_000, interval: 10 })
        .toBeGreaterThanOrEqual(count)
      return stream.frames().slice(1)
    },
  }
}
