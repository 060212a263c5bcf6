import { Client } from '@botpress/chat'
import { expect } from 'vitest'
import { send, type Answer } from '../../../../support/platform.ts'

/** Method and path of every operation, as published clients call them. */
export const routes = {
  createUser: 'POST /users',
  getUser: 'GET /users/me',
  getOrCreateUser: 'POST /users/get-or-create',
  updateUser: 'PUT /users/me',
  deleteUser: 'DELETE /users/me',
  createConversation: 'POST /conversations',
  getConversation: 'GET /conversations/{id}',
  getOrCreateConversation: 'POST /conversations/get-or-create',
  deleteConversation: 'DELETE /conversations/{id}',
  listConversations: 'GET /conversations',
  listenConversation: 'GET /conversations/{id}/listen',
  listMessages: 'GET /conversations/{conversationId}/messages',
  addParticipant: 'POST /conversations/{conversationId}/participants',
  getParticipant: 'GET /conversations/{conversationId}/participants/{userId}',
  removeParticipant: 'DELETE /conversations/{conversationId}/participants/{userId}',
  listParticipants: 'GET /conversations/{conversationId}/participants',
  createMessage: 'POST /messages',
  getMessage: 'GET /messages/{id}',
  deleteMessage: 'DELETE /messages/{id}',
  createEvent: 'POST /events',
  getEvent: 'GET /events/{id}',
} as const

export type OperationName = keyof typeof routes
export type Arguments = Record<string, unknown>

/** Calls an operation over plain HTTP: arguments go where the path names them, the others to the query or the body. */
export async function call(
  chatUrl: string,
  operation: OperationName,
  key: string | undefined,
  given: Arguments,
): Promise<Answer> {
  const rest = { ...given }
  const [method, path] = routes[operation].split(' ') as [string, string]
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name])
    delete rest[name]
    return encodeURIComponent(value)
  })
  const query = method === 'GET' ? `?${new URLSearchParams(rest as Record<string, string>).toString()}` : ''
  return send(method, `${chatUrl}${filled}${query}`, method === 'GET' ? undefined : rest, { 'x-user-key': key })
}

/** Calls an operation with the published client. */
export async function callWithClient(
  client: Client,
  operation: OperationName,
  key: string | undefined,
  given: Arguments,
): Promise<unknown> {
  const method = client[operation] as (given: Arguments) => Promise<unknown>
  return method({ ...given, ...(key !== undefined && { 'x-user-key': key }) })
}

/** A time as clients insist on it: ISO 8601, in UTC. */
export const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string

/** The body of every failure, with exactly these fields. */
export function errorObject(code: number, type: string) {
  return {
    id: expect.stringMatching(/^err_\d{14}x[0-9A-F]{8}$/) as string,
    code,
    type,
    message: expect.stringMatching(/\S/) as string,
  }
}

export function refusal(code: number, type: string) {
  return { status: code, body: errorObject(code, type) }
}

/** The parts of an answer that are compared. */
export function comparable({ status, body }: Answer): { status: number; body: unknown } {
  return { status, body }
}
