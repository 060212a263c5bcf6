import type { Limits } from '../protocol/contract.ts'
import type { CallSite } from './call-site.ts'
import { limitError } from './errors.ts'
import { create, NativePromise } from './primordials.ts'
import { createQueue } from './queue.ts'
import type { Post, Shared } from './shared.ts'

/** The position of a call in the order of a run's calls. */
export interface CallSlot {
  state: 'held' | 'ready' | 'free'
  send: (() => void) | undefined
}

/** The calls of one run to the host. */
export interface HostCalls {
  /** Reserves a position for a call whose request is not known yet. Later calls cross after it. */
  reserve(): CallSlot
  /** Releases a position. */
  release(slot: CallSlot): void
  /** Makes the call of a position; resolves to the text of the reply. */
  make(slot: CallSlot, request: string, site: CallSite): Promise<string>
  /**
   * Makes a call at once, ahead of all reserved positions: a hook's call must not wait for the call that the hook
   * belongs to.
   */
  makeNow(request: string, site: CallSite): Promise<string>
  /** Settles a call with the host's reply. */
  settle(call: string, reply: string): void
}

interface Caller {
  id: string
  limits: Limits
  shared: Shared
}

interface Waiting {
  request: string
  resolve(reply: string): void
}

/**
 * A call waits in three steps: in line, until every earlier call has crossed or was released; in the outbox, until
 * fewer than the allowed number are in flight; and in flight, until the host replies.
 */
export function createHostCalls({ id, limits, shared }: Caller, post: Post): HostCalls {
  const line = createQueue<CallSlot>()
  const outbox = createQueue<Waiting>()
  const inFlight = create(null) as Record<string, Waiting>
  let callsInFlight = 0
  let nextCall = 0

  const flushOutbox = () => {
    while (outbox.length > 0 && callsInFlight < limits.hostCallsAtOnce) {
      const waiting = outbox.shift()!
      nextCall += 1
      callsInFlight += 1
      inFlight[nextCall] = waiting
      post('call', id, `${nextCall}`, waiting.request)
    }
  }

  const advanceLine = () => {
    for (let slot = line.first(); slot !== undefined && slot.state !== 'held'; slot = line.first()) {
      line.shift()
      slot.send?.()
    }
  }

  const enter = (request: string, site: CallSite, start: (send: () => void) => void): Promise<string> => {
    shared.hostCalls += 1
    if (shared.hostCalls > limits.hostCalls) {
      const message = `A run may make at most ${limits.hostCalls} calls of the platform`
      throw limitError('hostCalls', 'HostCallLimitError', message, site)
    }
    if (request.length > limits.hostCallCharacters) {
      const message = `A call of the platform may have at most ${limits.hostCallCharacters} characters of JSON`
      throw limitError('hostCalls', 'HostCallSizeError', message, site)
    }
    return new NativePromise((resolve) => {
      start(() => {
        outbox.push({ request, resolve })
        flushOutbox()
      })
    })
  }

  return {
    reserve() {
      const slot: CallSlot = { state: 'held', send: undefined }
      line.push(slot)
      return slot
    },
    release(slot) {
      if (slot.state === 'held') slot.state = 'free'
      advanceLine()
    },
    make: (slot, request, site) =>
      enter(request, site, (send) => {
        slot.state = 'ready'
        slot.send = send
        advanceLine()
      }),
    makeNow: (request, site) => enter(request, site, (send) => send()),
    settle(call, reply) {
      const waiting = inFlight[call]
      if (waiting === undefined) return
      delete inFlight[call]
      callsInFlight -= 1
      waiting.resolve(reply)
      flushOutbox()
    },
  }
}
