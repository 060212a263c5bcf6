import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** An address and the number of its leading bits that count. */
export type Network = [Address, number]

/** A non-public address that the operator permits for outbound requests. */
export interface AllowedNetwork {
  /** A lower-case host name, or a network. */
  target: string | Network
  /** Absent: all ports. */
  port?: number
}

const withPort = /^(?:\[(?<bracketed>[^[\]]+)\]|(?<plain>[^[\]:]+))(?::(?<port>\d{1,5}))?$/

/**
 * Parses one entry: a host, an IP address or a network as CIDR, each optionally with `:port`. An IPv6 address or
 * network with a port stands in brackets: `[fd00::/8]:8080`.
 *
 * @returns undefined when the entry has none of these forms
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
  // The library also accepts `10.1` as an address and expands it in a way that authors do not expect.
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return undefined
  if (!text.includes('/')) return toNetwork(ipaddr.parse(address))
  return ipaddr.isValidCIDR(text) ? toNetwork(...ipaddr.parseCIDR(text)) : undefined
}

/** Addresses are compared in their IPv4 form where they have one, so an IPv4-mapped network would match nothing. */
function toNetwork(address: Address, bits = address.kind() === 'ipv4' ? 32 : 128): Network | undefined {
  return address.range() === 'ipv4Mapped' ? undefined : [address, bits]
}

/** A host name in the spelling of a parsed URL. A number like `0x7f.1` parses to an address and is no name. */
function parseName(text: string): string | undefined {
  const name = text.toLowerCase()
  const isName = /^[\w.-]+$/.test(name) && URL.parse(`http://${name}/`)?.hostname === name && isIP(name) === 0
  return isName ? name : undefined
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535
}
