/** Why a request failed. */
export type OutboundReason =
  /** The request itself is malformed. */
  | 'invalid'
  /** The target is not permitted. */
  | 'forbidden'
  /** The host's name has no address. */
  | 'unresolvable'
  /** The connection could not be opened, or broke. */
  | 'unreachable'
  | 'timeout'
  | 'too-large'
  | 'too-many-redirects'
  /** The memory for responses is in use. */
  | 'busy'
  /** The caller or the end of this process aborted the request. */
  | 'aborted'

/** A request failed. The message is for the caller, and contains no address that the caller did not send. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  readonly reason: OutboundReason

  constructor(reason: OutboundReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }

  /**
   * Converts an error of the HTTP client. The original stays in `cause` only, because its message contains resolved
   * addresses.
   *
   * @param host the request's host, as the caller wrote it
   */
  static from(cause: unknown, host: string): OutboundError {
    if (cause instanceof OutboundError) return cause
    const code = codeOf(cause)
    switch (code) {
      case 'UND_ERR_INVALID_ARG':
      case 'UND_ERR_NOT_SUPPORTED':
        return new OutboundError('invalid', `The request cannot be sent: ${(cause as Error).message}`, { cause })
      case 'UND_ERR_CONNECT_TIMEOUT':
      case 'UND_ERR_HEADERS_TIMEOUT':
      case 'UND_ERR_BODY_TIMEOUT':
        return new OutboundError('timeout', `${host} did not answer in time: try again later`, { cause })
      case 'UND_ERR_HEADERS_OVERFLOW':
        return new OutboundError('too-large', `The headers of the response of ${host} are too large`, { cause })
      default: {
        const message = `The connection to ${host} failed (${code}): check the address and that the server is up`
        return new OutboundError('unreachable', message, { cause })
      }
    }
  }
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'unknown'
}
