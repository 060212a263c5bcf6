import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import type { Config } from '#shared/config/config.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Address, AllowedNetwork } from '#shared/config/private-network-allowlist.ts'
import { belongsTo, isPublic, parseAddress } from './addresses.ts'
import { OutboundError } from './errors.ts'
import { resolvesToService, platformServices } from './platform-services.ts'
import { isOtherProtocols } from './ports.ts'
import { askNameServers, resolveBySystem, resolveOrThrow, type Resolve, type ResolvedAddress } from './resolver.ts'
import type { Target } from './targets.ts'

/** The permitted addresses: public ones and those that the operator allows, but never the platform's own servers. */
export interface AddressPolicy {
  /** Checks a target whose host is an address. The addresses of a name are checked when a connection to it opens. */
  checkAddress(target: Target): Promise<void>
  /**
   * The lookup of a socket that tries all addresses (`autoSelectFamily`) of the target's name. It returns the checked
   * addresses themselves, so that a name whose second resolution differs from the first gains nothing.
   */
  lookupFor(target: Target): LookupFunction
}

/** @param resolve replaces the name servers */
export function openAddressPolicy(config: Config, log: Logger, resolve?: Resolve): AddressPolicy {
  const resolveByDns = askNameServers()
  const openings = config.outbound.allowPrivate
  const services = platformServices(config)

  async function check(target: Target, addresses: string[]): Promise<void> {
    const refusal = await refusalOf(target, addresses.map(parseAddress))
    if (!refusal) return
    log.info({ host: target.host, port: target.port, addresses, refusal }, 'Outbound request refused')
    throw refusal === 'port' ? portRefused(target) : addressRefused(target)
  }

  async function refusalOf(target: Target, addresses: Address[]): Promise<'private' | 'platform' | 'port' | undefined> {
    const openingsOf = (address: Address) =>
      target.mayBePrivate ? openings.filter((opening) => opens(opening, target, address)) : []
    const closed = addresses.filter((address) => openingsOf(address).length === 0)
    if (!closed.every(isPublic)) return 'private'
    if (await resolvesToService(services, addresses, target.port).catch(() => true)) return 'platform'
    // The operator has permitted its port, and no server takes an HTTP request for something else.
    if (target.isConnection) return undefined
    if (closed.length > 0 && !target.portIsNamed && target.port !== 80 && target.port !== 443) return 'port'
    if (!isOtherProtocols(target.port)) return undefined
    // An operator who allows a network rarely means its mail server, so such a port must be allowed by number.
    const isOpened = addresses.every((address) => openingsOf(address).some(({ port }) => port === target.port))
    return isOpened ? undefined : 'port'
  }

  async function resolveAndCheck(target: Target): Promise<ResolvedAddress[]> {
    const isOpenedByName = openings.some((opening) => opening.target === target.host)
    const resolved = await resolveOrThrow(resolve ?? (isOpenedByName ? resolveBySystem : resolveByDns), target.host)
    const addresses = resolved.map(({ address }) => address)
    await check(target, addresses)
    return resolved
  }

  const lookUp = callbackify(resolveAndCheck)

  return {
    checkAddress: async (target) => (isIP(target.host) === 0 ? undefined : check(target, [target.host])),
    lookupFor: (target) => (_host, _options, answer) => lookUp(target, answer),
  }
}

function opens({ target, port }: AllowedNetwork, wanted: Target, address: Address): boolean {
  if (port !== undefined && port !== wanted.port) return false
  return typeof target === 'string' ? target === wanted.host : belongsTo(address, target)
}

/** Private addresses and the platform's own get the same message, so that code cannot tell them apart. */
function addressRefused({ host, mayBePrivate }: Target): OutboundError {
  const remedy = `to allow it, the operator adds it to OUTBOUND_ALLOW_PRIVATE`
  const further = mayBePrivate
    ? ''
    : ', and permissions.net of the bot or integration (for a CLI project, in isobot.json) must name it'
  return new OutboundError('forbidden', `${host} is not at a public address: ${remedy}${further}`)
}

function portRefused({ host, port }: Target): OutboundError {
  const remedy = isOtherProtocols(port)
    ? 'the port is reserved for a protocol other than HTTP'
    : `use port 80 or 443, or name ${host}:${port} in permissions.net (for a CLI project, in isobot.json)`
  return new OutboundError('forbidden', `Port ${port} of ${host} may not be requested: ${remedy}`)
}
