import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { Address, Network } from '#shared/config/private-network-allowlist.ts'

/** NAT64's well-known prefix: the last 32 bits are the IPv4 address that is meant. */
const nat64 = ipaddr.parseCIDR('64:ff9b::/96')

/** Where IPv6 addresses are given out. The library takes everything that it has no name for as public. */
const globalIpv6 = ipaddr.parseCIDR('2000::/3')

/** Reads an address, as the IPv4 address for which it stands when it is one in an IPv6 dress. */
export function parseAddress(text: string): Address {
  const address = ipaddr.process(text)
  return belongsTo(address, nat64) ? ipaddr.fromByteArray(address.toByteArray().slice(-4)) : address
}

/** Whether an address is in a network; one of the other family never is. */
export function belongsTo(address: Address, network: Network): boolean {
  return address.kind() === network[0].kind() && address.match(network)
}

/** Whether anybody on the internet may have this address: not private, local, reserved, nor a tunnel to another one. */
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
