import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** An address and how many of its leading bits count. */
export type Network = [Address, number]

/** What the operator opens to outbound requests although its address is not public. */
export interface AllowedNetwork {
  /** A host by its name, in lower case, or every address of a network. */
  target: string | Network
  /** Absent: every port. */
  port?: number
}

const withPort = /^(?:\[(?<bracketed>[^[\]]+)\]|(?<plain>[^[\]:]+))(?::(?<port>\d{1,5}))?$/

/**
 * Reads one opening: a host, an IP address or a network as CIDR, each optionally with `:port`. An IPv6 address or
 * network with a port stands in brackets: `[fd00::/8]:8080`.
 *
 * @returns undefined when the entry is none of these
 */
export function parseAllowedNetwork(entry: string): AllowedNetwork | undefined {
  const network = parseNetwork(entry)
  if (network) return { target: network }
  const { bracketed, plain, port } = withPort.exec(entry)?.groups ?? {}
  const target = parseNetwork(bracketed ?? plain ?? '') ?? parseName(plain ?? '')
  if (target === undefined) return undefined
  if (port === undefined) return { target }
  return isPort(Number(port)) ? { target, port: Number(port) } : undefined
}

function parseNetwork(text: string): Network | undefined {
  const [address = ''] = text.split('/')
  // The library takes `10.1` for an address as well, and nobody who writes that means what it makes of it.
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return undefined
  if (!text.includes('/')) return toNetwork(ipaddr.parse(address))
  return ipaddr.isValidCIDR(text) ? toNetwork(...ipaddr.parseCIDR(text)) : undefined
}

/** Addresses are compared as IPv4 where they stand for IPv4, so an IPv4-mapped network would match nothing. */
function toNetwork(address: Address, bits = address.kind() === 'ipv4' ? 32 : 128): Network | undefined {
  return address.range() === 'ipv4Mapped' ? undefined : [address, bits]
}

/** A host's name, spelled as a URL gives it back: a number like `0x7f.1` comes back as an address and is none. */
function parseName(text: string): string | undefined {
  const name = text.toLowerCase()
  const isName = /^[\w.-]+$/.test(name) && URL.parse(`http://${name}/`)?.hostname === name && isIP(name) === 0
  return isName ? name : undefined
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535
}
