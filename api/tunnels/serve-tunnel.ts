import type { WebSocket } from 'ws'
import type { Context } from '#shared/context.ts'
import { isRecord } from '#shared/models/payload.ts'
import { tunnelLimits, type TunnelOutcome, type TunnelSignal } from '#shared/models/tunnel.ts'
import { closedObject, compile } from '#shared/schema.ts'
import { outcomeTopic } from '#shared/signals/signals.ts'
import { releaseTunnel, renewTunnel } from '#shared/store/tunnels.ts'

/** The codes with which published servers of tunnels close them. */
const closeCodes = { goingAway: 1001, conflict: 4001, invalidFrame: 4002 }

/** Interval at which a tunnel is renewed and its silence noticed. */
const renewMilliseconds = 10_000

/** Frames in one interval that answer no request: command lines send a greeting every 5 s. */
const maxUnasked = 100

/** Frames that answer no request are read up to this length, in bytes. */
const maxUnaskedBytes = 4096

/** Time that the other side has to close its connection. */
const closeMilliseconds = 2000

const headers = { type: 'object' } as const

/** A response, as command lines send it. */
const isResponse = compile(
  closedObject(
    { requestId: { type: 'string' }, status: { type: 'integer', minimum: 100, maximum: 599 } },
    { type: { const: 'response' }, headers, body: { type: 'string' } },
  ),
  'body',
)

/** One tunnel, as the process sees it that has its connection. */
export interface Tunnel {
  /** Takes a signal of a worker, or of the process of a newer connection. */
  receive(signal: TunnelSignal): void
  /** Serves the connection until it ends. */
  connect(socket: WebSocket): void
  /** Closes the connection in an orderly way: command lines connect again. */
  end(): void
  /** Closes the connection at once. */
  destroy(): void
}

/**
 * Sends the requests of workers to an author's machine, and its responses back.
 *
 * @param onEnd called once, when the tunnel is closed
 */
export function serveTunnel(context: Context, holder: string, onEnd: () => void): Tunnel {
  const { db, log, signals } = context
  /** The timers of the requests that wait for a response, by id. */
  const inFlight = new Map<string, NodeJS.Timeout>()
  let socket: WebSocket | undefined
  let unasked = 0
  let lastFrameAt = performance.now()
  let isEnded = false

  function publish(id: string, outcome: TunnelOutcome): void {
    signals.publish(outcomeTopic(id), outcome).catch((error: unknown) => {
      // The worker's request ends at its time limit.
      log.debug({ err: error, id }, 'Publishing the outcome of a tunnel’s request failed')
    })
  }

  function settle(id: string): boolean {
    clearTimeout(inFlight.get(id))
    return inFlight.delete(id)
  }

  function send({ id, request, milliseconds }: Extract<TunnelSignal, { id: string }>): void {
    if (!socket || socket.readyState !== socket.OPEN) return publish(id, { failure: 'closed' })
    const { inFlight: maxInFlight, bytes } = tunnelLimits
    if (inFlight.size >= maxInFlight || socket.bufferedAmount > 4 * bytes) return publish(id, { failure: 'busy' })
    inFlight.set(
      id,
      setTimeout(() => settle(id), milliseconds),
    )
    socket.send(JSON.stringify({ type: 'request', id, ...request }))
  }

  function takeFrame(data: Buffer, isBinary: boolean): void {
    if (socket?.readyState !== socket?.OPEN) return
    lastFrameAt = performance.now()
    if (inFlight.size === 0 && data.length > maxUnaskedBytes) return countUnasked()
    const frame = isBinary ? undefined : parse(data)
    const isHello = isRecord(frame) && frame['type'] === 'hello'
    if (!isHello && isResponse(frame)) {
      const { requestId, status, body = '' } = frame
      if (settle(requestId)) return publish(requestId, { response: { status, body, headers: texts(frame.headers) } })
    } else if (!isHello) return close(closeCodes.invalidFrame, 'invalid response payload')
    countUnasked()
  }

  function countUnasked(): void {
    unasked += 1
    if (unasked > maxUnasked) close(closeCodes.invalidFrame, 'too many frames that answer no request')
  }

  /** Closes the connection, at the latest after a short time. */
  function close(code: number, reason?: string): void {
    const closing = socket
    if (!closing || closing.readyState !== closing.OPEN) return
    closing.close(code, reason)
    const timer = setTimeout(() => closing.terminate(), closeMilliseconds)
    closing.once('close', () => clearTimeout(timer))
  }

  async function renew(): Promise<void> {
    unasked = 0
    if (performance.now() - lastFrameAt > tunnelLimits.idleMilliseconds) {
      return close(closeCodes.goingAway, 'the tunnel was silent for too long')
    }
    if (await renewTunnel(db, holder)) return
    close(closeCodes.conflict, 'another connection holds the tunnel, or its key is no longer good')
  }

  const timer = setInterval(() => {
    renew().catch((error: unknown) => log.warn({ err: error }, 'Renewing a tunnel failed; retrying'))
  }, renewMilliseconds)

  function end(): void {
    if (isEnded) return
    isEnded = true
    clearInterval(timer)
    for (const id of inFlight.keys()) {
      settle(id)
      publish(id, { failure: 'closed' })
    }
    releaseTunnel(db, holder).catch((error: unknown) => log.debug({ err: error }, 'Releasing a tunnel failed'))
    onEnd()
  }

  return {
    receive(signal) {
      if ('replaced' in signal) close(closeCodes.conflict, 'another connection holds the tunnel')
      else send(signal)
    },
    connect(accepted) {
      socket = accepted
      socket.on('message', takeFrame)
      // A close event follows each error.
      socket.on('error', () => {})
      socket.once('close', end)
    },
    end() {
      if (socket) close(closeCodes.goingAway)
      else end()
    },
    destroy: () => socket?.terminate(),
  }
}

function parse(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'))
  } catch {
    return undefined
  }
}

/** The headers with one text each; others mean nothing to code of the platform. */
function texts(given: Record<string, unknown> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (typeof value === 'string' ? [[name.toLowerCase(), value]] : [])),
  )
}
