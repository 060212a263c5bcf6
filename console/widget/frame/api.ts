import { readError } from '../../../shared/chat-client/chat-error.ts'

const requestMilliseconds = 30_000

/**
 * Calls an operation of the web chat.
 *
 * @param base address of the web chat, with a slash at its end
 * @returns the body of the answer
 * @throws ChatError when the platform refuses it, another error when it is unavailable
 */
export async function request<Answer>(
  base: string,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  { key, body, once }: { key: string; body?: object; once?: string },
): Promise<Answer> {
  const response = await fetch(base + path, {
    method,
    headers: {
      'x-user-key': key,
      ...(body && { 'content-type': 'application/json' }),
      ...(once !== undefined && { 'idempotency-key': once }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(requestMilliseconds),
  })
  if (!response.ok) throw await readError(response)
  return (await response.json()) as Answer
}
