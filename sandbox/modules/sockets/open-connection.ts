import { callSite } from '../../isolate/call-site.ts'
import type { Platform } from '../../isolate/platform.ts'
import { Incoming } from '../../prelude/incoming.ts'
import { inParts } from '../../prelude/outgoing-body.ts'
import type { FetchFailure, TlsOptions } from '../../protocol/contract.ts'
import type { OutgoingParts } from '../http/outgoing.ts'

/** A connection to open. */
export interface Wanted {
  protocol: 'tcp' | 'tls'
  /** The host and port, as in a URL. */
  authority: string
  tls?: TlsOptions
  /** The connection that this one continues with TLS. */
  secures?: Connected
}

/** A connection through the platform. */
export interface Connected {
  name: string
  incoming: Incoming
  close(): void
}

/**
 * Opens a connection, which sends what is written to `outgoing`.
 *
 * @param handlers `opening` receives the function that closes it, before it is open; `over` the end of its run
 * @throws TypeError as `fetch` does
 */
export async function openConnection(
  platform: Platform,
  { protocol, authority, tls, secures }: Wanted,
  outgoing: OutgoingParts,
  { opening, over }: { opening: (close: () => void) => void; over: () => void },
): Promise<Connected> {
  const request = JSON.stringify({
    method: 'CONNECT',
    url: `${protocol}://${authority}`,
    headers: {},
    redirect: 'error',
    content: {},
    ...(tls && { tls }),
    ...(secures && { secures: secures.name }),
  })
  const connecting = { nextPart: inParts(outgoing).next, secures: secures?.name, over }
  const { answer, cancel } = platform.connect(platform.token(), request, callSite(openConnection), connecting)
  opening(cancel)
  const fetched = await answer
  if (fetched.stream && fetched.connection !== undefined) {
    return { name: fetched.connection, incoming: new Incoming(fetched.stream, toError, undefined), close: cancel }
  }
  throw toError(
    'failure' in fetched.answer ? fetched.answer : { failure: 'internal', message: 'The connection was not opened' },
  )
}

function toError({ failure, message }: FetchFailure): TypeError {
  return new TypeError(message, { cause: Object.assign(new Error(message), { code: failure }) })
}
