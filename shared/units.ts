/** Bytes of a megabyte, in all limits and messages. */
export const megabyte = 1024 * 1024
