import { readError } from '../../../shared/chat-client/chat-error.ts'

/** A request without an answer for longer is taken for lost: its connection may be gone without an error. */
const requestMilliseconds = 10_000

interface RequestOptions {
  key: string
  body?: object
  /** The idempotency key: the request is carried out once, however often it is sent. */
  once?: string
  /** Ends the request sooner. */
  signal?: AbortSignal
}

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Calls an operation of the web chat with the present key. @throws as `request` does */
export type Ask = <Answer>(
  method: HttpMethod,
  path: string,
  body?: object,
  options?: Pick<RequestOptions, 'once' | 'signal'>,
) => Promise<Answer>

/**
 * Calls an operation of the web chat.
 *
 * @param base address of the web chat, with a slash at its end
 * @returns the body of the answer
 * @throws ChatError when the platform refuses it, another error when it is unavailable
 */
export async function request<Answer>(
  base: string,
  method: HttpMethod,
  path: string,
  { key, body, once, signal }: RequestOptions,
): Promise<Answer> {
  const aborting = new AbortController()
  const abort = () => aborting.abort()
  const timer = setTimeout(abort, requestMilliseconds)
  signal?.addEventListener('abort', abort)
  try {
    const response = await fetch(base + path, {
      method,
      headers: {
        'x-user-key': key,
        ...(body && { 'content-type': 'application/json' }),
        ...(once !== undefined && { 'idempotency-key': once }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: aborting.signal,
    })
    if (!response.ok) throw await readError(response)
    return (await response.json()) as Answer
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
