import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import type { Context } from '#shared/context.ts'
import { ApiError } from '#shared/errors.ts'
import { includesRole } from '#shared/models/member.ts'
import { readTunnelKey, tunnelId, tunnelLimits, type TunnelOwner, type TunnelSignal } from '#shared/models/tunnel.ts'
import { tunnelTopic } from '#shared/signals/signals.ts'
import { findRole } from '#shared/store/accounts.ts'
import { claimTunnel } from '#shared/store/tunnels.ts'
import { serveTunnel, type Tunnel } from './serve-tunnel.ts'

/** Connections that are still open this long after `close` are destroyed. */
const closeMilliseconds = 2000
const pollMilliseconds = 20

/** The tunnels whose connections this process has. */
export interface Tunnels {
  /**
   * Opens a tunnel on a connection that asks for one.
   *
   * @throws ApiError before the upgrade, when the request is refused
   */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  /** Ends all tunnels; command lines connect again, to another process. */
  close(): Promise<void>
}

/** The address of a tunnel: its key, and the id that the command line has chosen. */
const address = /^\/tunnels\/([^/]+)\/([^/?]+)$/

/** Whether a request asks for a tunnel. */
export function wantsTunnel({ url = '' }: IncomingMessage): boolean {
  return url.startsWith('/tunnels/')
}

export function openTunnels(context: Context): Tunnels {
  const { db, signals, metrics } = context
  const open = new Set<Tunnel>()
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: tunnelLimits.bytes,
    perMessageDeflate: false,
  })

  async function authenticate({ url = '' }: IncomingMessage): Promise<TunnelOwner & { id: string }> {
    const [, key = '', id = ''] = address.exec(url) ?? []
    const owner = readTunnelKey(context.config.secret, key)
    const role = owner && (await findRole(db, owner.workspaceId, owner.accountId))
    if (!owner || role === undefined || !includesRole(role, 'developer')) {
      throw new ApiError('Unauthorized', 'The key of the tunnel is invalid or has expired: get an address by getTunnel')
    }
    if (!tunnelId.test(id))
      throw new ApiError('InvalidPayload', 'The id of a tunnel has 8 to 100 letters, digits, _ and -')
    return { ...owner, id }
  }

  /** Makes a connection that is still to be accepted the holder of the tunnel. */
  async function claim({ id, ...owner }: TunnelOwner & { id: string }): Promise<Tunnel> {
    const holder = randomUUID()
    let unsubscribe: (() => void) | undefined
    const tunnel = serveTunnel(context, holder, () => {
      unsubscribe?.()
      open.delete(tunnel)
      metrics.tunnels.set(open.size)
    })
    open.add(tunnel)
    metrics.tunnels.set(open.size)
    try {
      unsubscribe = await signals.subscribe(tunnelTopic(holder), (signal) => tunnel.receive(signal as TunnelSignal))
      const former = await claimTunnel(db, owner, { id, holder })
      const replaced: TunnelSignal = { replaced: true }
      if (former !== undefined) await signals.publish(tunnelTopic(former), replaced).catch(() => {})
      return tunnel
    } catch (error) {
      tunnel.end()
      throw error
    }
  }

  return {
    async accept(request, socket, head) {
      const tunnel = await claim(await authenticate(request))
      // The client may have gone meanwhile.
      if (socket.destroyed) return tunnel.end()
      socket.once('close', () => tunnel.end())
      sockets.handleUpgrade(request, socket, head, (webSocket) => tunnel.connect(webSocket))
    },
    async close() {
      for (const tunnel of open) tunnel.end()
      const deadline = performance.now() + closeMilliseconds
      while (open.size > 0 && performance.now() < deadline) await pause(pollMilliseconds)
      for (const tunnel of open) tunnel.destroy()
    },
  }
}
