interface OpensslErrorParts {
  /** In hexadecimal, as OpenSSL prints it. */
  number: string
  library: string
  reason: string
  /** The part of the code that names the library, such as `RSA_`; empty for errors of providers. */
  prefix?: string
}

/** An error as Node makes it of one of OpenSSL. */
export function opensslError({ number, library, reason, prefix = '' }: OpensslErrorParts): Error {
  const code = `ERR_OSSL_${prefix}${reason.toUpperCase().replaceAll(' ', '_')}`
  return Object.assign(new Error(`error:${number}:${library}::${reason}`), { library, reason, code })
}
