import { lookup, Resolver } from 'node:dns/promises'
import { OutboundError } from './errors.ts'

export interface ResolvedAddress {
  address: string
  family: 4 | 6
}

/** Finds all addresses of a host's name. */
export type Resolve = (host: string) => Promise<ResolvedAddress[]>

/**
 * Queries name servers directly. The system's lookup would occupy one of the four threads of the process until the name
 * server answers, and would complete names from the machine's search list.
 *
 * @param servers as `address:port`; by default those of the machine's configuration
 */
export function askNameServers(servers?: string[]): Resolve {
  return async (host) => {
    const resolver = new Resolver({ timeout: 2000, tries: 2 })
    if (servers) resolver.setServers(servers)
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    return [...addressesIn(ipv4, 4), ...addressesIn(ipv6, 6)]
  }
}

/** Resolves as other programs on this machine do, including names that only the machine knows. */
export const resolveBySystem: Resolve = async (host) => {
  const addresses = await lookup(host, { all: true })
  return addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

function addressesIn(answer: PromiseSettledResult<string[]>, family: 4 | 6): ResolvedAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []
}

/** @throws OutboundError `unresolvable` */
export async function resolveOrThrow(resolve: Resolve, host: string): Promise<ResolvedAddress[]> {
  const addresses = await resolve(host).catch(() => [])
  if (addresses.length > 0) return addresses
  throw new OutboundError('unresolvable', `${host} has no address: check its spelling`)
}
