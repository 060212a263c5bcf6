import { Client } from 'pg'
import type { Config } from '#shared/config/config.ts'
import type { Address } from '#shared/config/private-network-allowlist.ts'
import { connectionSettings } from '#shared/store/database.ts'
import { isOfThisMachine, isSame, parseAddress } from './addresses.ts'
import { resolveBySystem } from './resolver.ts'

/** The address of one of the platform's own servers. */
export interface Service {
  host: string
  port: number
}

/**
 * The platform's own database, Redis, api and monitoring endpoints, which no outbound request may reach, even in networks
 * that the operator allows. The api is reachable by its public address.
 */
export function platformServices({ database, redis, http, workerPort }: Config): Service[] {
  // The client never connects; it parses the URL as the driver does, with its defaults.
  const { host, port } = new Client(connectionSettings(database))
  // A server behind a socket file runs on this machine, and usually also listens on its port.
  const services = [
    { host: host.startsWith('/') ? 'localhost' : host, port },
    { host: http.host ?? 'localhost', port: http.port },
  ]
  if (workerPort) services.push({ host: http.host ?? 'localhost', port: workerPort })
  if (redis) {
    const url = new URL(redis.url)
    services.push({ host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port || 6379) })
  }
  return services
}

/**
 * Whether one of the addresses, at the port, is one of the services. A service on this machine is reachable at each of
 * the machine's addresses. Rejects when a service's own name cannot be resolved.
 */
export async function resolvesToService(services: Service[], addresses: Address[], port: number): Promise<boolean> {
  for (const service of services.filter((candidate) => candidate.port === port)) {
    const own = (await resolveBySystem(service.host)).map(({ address }) => parseAddress(address))
    const isLocalService = own.some(isOfThisMachine)
    if (addresses.some((one) => own.some((other) => isSame(one, other)) || (isLocalService && isOfThisMachine(one)))) {
      return true
    }
  }
  return false
}
