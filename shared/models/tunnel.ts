import { signTunnelKey, type PlatformSecret, isSignature } from '../secrets.ts'
import { megabyte } from '../units.ts'

/**
 * A tunnel is a connection of an author's command line, over which the platform sends requests to code on the author's
 * machine.
 */

/** A request to code at an address, in the form in which bundles of the public SDK take it. */
export interface RemoteRequest {
  method: string
  path: string
  query: string
  headers: Record<string, string>
  body: string
}

/** The answer of code at an address. */
export interface RemoteResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** A signal to the connection that holds a tunnel. */
export type TunnelSignal =
  /** Asks for a request; its outcome is published under the id. */
  | { id: string; request: RemoteRequest; milliseconds: number }
  /** Another connection holds the tunnel now. */
  | { replaced: true }

/** The outcome of a request through a tunnel. */
export type TunnelOutcome = { response: RemoteResponse } | { failure: 'closed' | 'busy' }

/** Upper bounds of one tunnel; `docs/limits.md` lists them. */
export const tunnelLimits = {
  /** Of the body of a request, and of a frame with a response. */
  bytes: megabyte,
  perWorkspace: 20,
  inFlight: 32,
  /** A tunnel without a frame for so long is closed. */
  idleMilliseconds: 30_000,
}

/** Long enough for a project; a lost key is good for no longer. */
const keySeconds = 30 * 24 * 60 * 60

/** The member who may open tunnels with a key. */
export interface TunnelOwner {
  workspaceId: string
  accountId: string
}

/**
 * A key with which a member's command line opens tunnels. It is part of an address, because published command lines send
 * no headers; so it is good for nothing else, and expires.
 *
 * @param secret the platform's own secret
 */
export function newTunnelKey(
  secret: PlatformSecret,
  { workspaceId, accountId }: TunnelOwner,
): { key: string; expiresAt: Date } {
  const expires = Math.floor(Date.now() / 1000) + keySeconds
  const claims = `${expires}.${workspaceId}.${accountId}`
  return { key: `${claims}.${signTunnelKey(secret.current, claims)}`, expiresAt: new Date(expires * 1000) }
}

/** The member for whom a key was made; undefined when it is invalid or has expired. */
export function readTunnelKey(secret: PlatformSecret, key: string): TunnelOwner | undefined {
  const [expires = '', workspaceId = '', accountId = '', signature = ''] = key.split('.')
  const claims = `${expires}.${workspaceId}.${accountId}`
  if (!isSignature(secret, signature, (each) => signTunnelKey(each, claims))) return undefined
  return Number(expires) * 1000 > Date.now() ? { workspaceId, accountId } : undefined
}

/** The form of an id, which published command lines take from a random UUID. */
export const tunnelId = /^[\w-]{8,100}$/

/**
 * The tunnel that an address means: published command lines give the platform's origin with the tunnel's id as path.
 *
 * @param baseUrl the public address of the platform
 * @returns undefined for an address elsewhere; an empty id when the address is the platform's and no tunnel's
 */
export function tunnelOf(url: string, baseUrl: string): string | undefined {
  const { origin, pathname } = new URL(url)
  if (origin !== new URL(baseUrl).origin) return undefined
  const id = pathname.slice(1)
  return tunnelId.test(id) ? id : ''
}
