import type { HostReply, Json } from '#sandbox/protocol/contract.ts'

/** The platform's URL for SDK bundles. No server listens there: the table below provides the replies. */
export const platformUrl = 'https://api.isobot.internal'

export const conversationId = 'conv_01K0000000000000000000000'

const counter = `/v1/chat/states/conversation/${conversationId}/counter`
const state = {
  id: 'state_01K0000000000000000000000',
  createdAt: '2026-01-02T03:04:05.678Z',
  updatedAt: '2026-01-02T03:04:05.678Z',
  conversationId,
  name: 'counter',
  type: 'conversation',
  payload: { n: 0 },
}

const replies: Record<string, Json> = {
  'POST /v1/chat/messages': {
    message: {
      id: 'msg_01K0000000000000000000001',
      createdAt: '2026-01-02T03:04:05.789Z',
      type: 'text',
      payload: { text: 'You said: hello' },
      direction: 'outgoing',
      userId: 'bot_01K0000000000000000000000',
      conversationId,
      tags: {},
    },
  },
  [`POST ${counter}/get-or-set`]: { state },
  [`POST ${counter}`]: { state },
}

/** The platform's reply to a call: immediate, and always the same. */
export function replyTo(method: string, path: string): HostReply {
  const body = replies[`${method} ${path}`]
  if (body !== undefined) return { status: 200, body }
  return { status: 404, body: { id: 'err_1', code: 404, type: 'ResourceNotFound', message: `No ${method} ${path}` } }
}
