/** The message of an error with those of its causes; of an AggregateError without a message, those of its errors. */
export function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(wordsOf).join('; ')
  const { cause } = error instanceof Error ? error : {}
  const words = error instanceof Error ? error.message : String(error)
  return cause instanceof Error ? `${words}: ${wordsOf(cause)}` : words
}

/** The code that Node, PostgreSQL or a TLS library gave an error or its cause. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  return codeOf(error instanceof AggregateError ? error.errors[0] : error.cause)
}

/** Error codes of certificates without a known issuer. */
export const selfSigned = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])
