import { Client } from 'pg'
import type { Config } from '#shared/config/config.ts'
import type { Address } from '#shared/config/private-network-allowlist.ts'
import { connectionSettings } from '#shared/store/database.ts'
import { isOfThisMachine, isSame, parseAddress } from './addresses.ts'
import { resolveBySystem } from './resolver.ts'

/** Where a server that belongs to the platform listens. */
export interface Service {
  host: string
  port: number
}

/**
 * The platform's own database, Redis, api and figures, which nobody's request may reach, whatever the operator opened. The api is
 * for those who come in by its public address.
 */
export function platformServices({ database, redis, http, metrics }: Config): Service[] {
  // A client that is never connected: it knows the driver's reading of the URL, with its defaults.
  const { host, port } = new Client(connectionSettings(database))
  // Behind a socket in the file system is a server of this machine, which mostly listens at its port as well.
  const services = [
    { host: host.startsWith('/') ? 'localhost' : host, port },
    { host: http.host ?? 'localhost', port: http.port },
  ]
  if (metrics?.workerPort) services.push({ host: http.host ?? 'localhost', port: metrics.workerPort })
  if (redis) {
    const url = new URL(redis.url)
    services.push({ host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port || 6379) })
  }
  return services
}

/**
 * Whether one of the addresses, at the port, is one of the services. A service on this machine is found behind each of
 * the machine's addresses. Rejects when a service's own name cannot be resolved.
 */
export async function leadsTo(services: Service[], addresses: Address[], port: number): Promise<boolean> {
  for (const service of services.filter((candidate) => candidate.port === port)) {
    const own = (await resolveBySystem(service.host)).map(({ address }) => parseAddress(address))
    const ownIsHere = own.some(isOfThisMachine)
    if (addresses.some((one) => own.some((other) => isSame(one, other)) || (ownIsHere && isOfThisMachine(one)))) {
      return true
    }
  }
  return false
}
