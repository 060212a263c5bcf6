/** An error response of the Chat API. */
export class ChatError extends Error {
  override name = 'ChatError'
  /** The type of the error, such as `Forbidden`. */
  readonly type: string
  readonly status: number

  constructor({ type, message }: { type: string; message: string }, status: number) {
    super(message)
    this.type = type
    this.status = status
  }
}

/** Reads the error of a response, which comes from the platform or from a proxy in front of it. */
export async function readError(response: Response): Promise<Error> {
  const body = (await response.json().catch(() => undefined)) as { type?: unknown; message?: unknown } | undefined
  const { type, message } = body ?? {}
  if (typeof type === 'string' && typeof message === 'string') return new ChatError({ type, message }, response.status)
  return new Error(`The answer has the status ${response.status}`)
}
