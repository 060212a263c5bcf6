/** Why a request did not end well. */
export type OutboundReason =
  /** The request itself is malformed. */
  | 'invalid'
  /** The request may not go where it wants to. */
  | 'forbidden'
  /** The host's name has no address. */
  | 'unresolvable'
  /** No connection, or one that broke. */
  | 'unreachable'
  | 'timeout'
  | 'too-large'
  | 'too-many-redirects'
  /** There is no room for the answer now. */
  | 'busy'
  /** The caller, or the end of this process, took the request back. */
  | 'aborted'

/** A request failed. Its message is for whoever asked for the request: it names no address that they did not name. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  readonly reason: OutboundReason

  constructor(reason: OutboundReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }

  /**
   * Turns what the HTTP client threw into an error that may be shown. Its own words stay in `cause`: they name the
   * addresses behind a name.
   *
   * @param host whom the request was for, as the caller wrote it
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
