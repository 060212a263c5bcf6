/** Names and addresses of the machine itself (RFC 6761 section 6.3, RFC 6890). */
const ownHost = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/

/** Whether requests to an address cross a network unencrypted. */
export function isPlaintext(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol === 'http:' && !ownHost.test(hostname)
}
