import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { Address, Network } from '#shared/config/private-network-allowlist.ts'

/** The well-known prefix of NAT64: the last 32 bits are the IPv4 address. */
const nat64 = ipaddr.parseCIDR('64:ff9b::/96')

/** The range of assigned IPv6 addresses. The library counts each address outside its named ranges as public. */
const globalIpv6 = ipaddr.parseCIDR('2000::/3')

/** Parses an address. IPv6 forms of an IPv4 address become the IPv4 address. */
export function parseAddress(text: string): Address {
  const address = ipaddr.process(text)
  return belongsTo(address, nat64) ? ipaddr.fromByteArray(address.toByteArray().slice(-4)) : address
}

/** Whether an address is in a network; false if their families differ. */
export function belongsTo(address: Address, network: Network): boolean {
  return address.kind() === network[0].kind() && address.match(network)
}

/** Whether the address is public: not private, local or reserved, and not a tunnel to another address. */
export function isPublic(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || belongsTo(address, globalIpv6))
}

/** Whether a connection to this address stays on this machine. */
export function isOfThisMachine(address: Address): boolean {
  const range = address.range()
  if (range === 'loopback' || range === 'unspecified') return true
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return own.some((entry) => isSame(parseAddress(entry.address), address))
}

export function isSame(one: Address, other: Address): boolean {
  return one.kind() === other.kind() && one.toString() === other.toString()
}
