/** Bytes of a megabyte; `sandbox/` imports no other room, and so not `shared/units.ts`. */
export const megabyte = 1024 * 1024

/** Bytes of a part of a stream, or characters of one of a text. */
export const partBytes = 64 * 1024

/** Characters of the certificates, in PEM, of the authorities that a connection may trust. */
export const maxCaCharacters = 64 * 1024

/** Characters of each other option of a connection with TLS. */
export const maxTlsCharacters = 4096
