const codes: Record<string, string> = {
  unresolvable: 'ENOTFOUND',
  timeout: 'ETIMEDOUT',
  aborted: 'ECONNRESET',
  forbidden: 'EACCES',
  // Of an invalid address, for instance: libraries try again after ECONNRESET.
  invalid: 'EINVAL',
}

/** Makes the error of a failed `fetch` or connection one of a socket: libraries look at its code. */
export function toSocketError(reason: unknown): unknown {
  if (!(reason instanceof TypeError)) return reason
  const { code } = (reason.cause ?? {}) as { code?: unknown }
  if (typeof code !== 'string') return reason
  const [, given] = /\((E[A-Z\d_/]+|[A-Z_]*(?:CERT|SIGNATURE|TLS)[A-Z_]*)\)/.exec(reason.message) ?? []
  const error = new Error(reason.message.replace(/^fetch failed: /, ''), { cause: reason.cause })
  return Object.assign(error, { code: given ?? codes[code] ?? 'ECONNRESET', syscall: 'connect' })
}
