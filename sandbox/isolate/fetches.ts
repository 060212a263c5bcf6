import type { FetchAnswer, FetchFailure, Limits } from '../protocol/contract.ts'
import { tooManyConnections } from '../protocol/too-many-connections.ts'
import { partBytes } from '../protocol/units.ts'
import { placeAt, type CallSite } from './call-site.ts'
import { limitError } from './errors.ts'
import { bytesIn, create, hasOwn, keys, NativePromise, NativeTypeError, parse, record } from './primordials.ts'
import { createQueue } from './queue.ts'
import type { Post, Shared } from './shared.ts'
import type { OpenStream, Stream, Streams } from './streams.ts'

/**
 * The result of an outbound request. The body is separate, because it may be long and is not parsed as JSON. If
 * `stream` is set, the stream delivers the body.
 */
export interface Fetched {
  answer: Head | FetchFailure
  body: string
  stream: Stream | undefined
  /** The name of a connection. */
  connection: string | undefined
}

type Head = Omit<FetchAnswer, 'body'> & { streams?: 1 }

/** Gives the next part of a request's body, of at most `partBytes` bytes or characters; undefined after the last one. */
export type NextPart = () => unknown

/** A connection to open. */
export interface Connecting {
  /** Gives the parts that it sends, until it is closed. */
  nextPart: NextPart
  /** The connection that it continues with TLS, by the name in its answer. */
  secures: string | undefined
  /** Receives the end of the run, which ends the connection. */
  over(): void
}

/** The outbound requests of one run. */
export interface Fetches {
  /**
   * Makes a request as soon as fewer than the allowed number are in flight. A cancelled request resolves to a failure.
   *
   * @param nextPart of its body, where that is not in `request`
   */
  begin(request: string, site: CallSite, nextPart?: NextPart): { answer: Promise<Fetched>; cancel(): void }
  /**
   * Opens a connection, which counts as a request, and is in flight until it has its answer. That has a stream; cancelling sends
   * what the host has room for, and closes it. A connection beyond the number of open ones resolves to a failure.
   */
  connect(request: string, site: CallSite, connecting: Connecting): { answer: Promise<Fetched>; cancel(): void }
  /** Ends all connections, of which the host closes its own end. */
  disconnect(): void
  /** Sends so many further parts of a request's body, as they come. */
  send(fetch: string, parts: number): void
  /** Settles a request with the host's answer. */
  settle(fetch: string, answer: string, body: string): void
}

interface Pending {
  /** Its name while it is in flight; empty before. */
  name: string
  request: string
  site: CallSite
  nextPart: NextPart | undefined
  /** Parts that the host waits for. */
  wantedParts: number
  isSending: boolean
  isInFlight: boolean
  isOver: boolean
  /** Whether it is a connection, which goes on when its answer has come; `stream` is then what the server sends. */
  isConnection: boolean
  /** Whether the last part was sent. */
  isSent: boolean
  /** Whether the last part of what the server sends has come. */
  isReceived: boolean
  /** Whether it is closed as soon as the parts have been sent for which the host has room. */
  isClosing: boolean
  over: (() => void) | undefined
  stream: OpenStream | undefined
  resolve(fetched: Fetched): void
  reject(error: Error): void
}

export function createFetches(
  { id, limits, shared, inbound }: { id: string; limits: Limits; shared: Shared; inbound: Streams },
  post: Post,
): Fetches {
  const outbox = createQueue<Pending>()
  /** The requests in flight, and the open connections. */
  const named = create(null) as Record<string, Pending>
  let fetchesInFlight = 0
  let nextFetch = 0

  const flushOutbox = () => {
    while (outbox.length > 0 && fetchesInFlight < limits.fetchesAtOnce) {
      const pending = outbox.shift()!
      if (pending.isOver) continue
      nextFetch += 1
      fetchesInFlight += 1
      pending.name = `${nextFetch}`
      pending.isInFlight = true
      named[pending.name] = pending
      post('fetch', id, pending.name, pending.request)
    }
  }

  const finish = (pending: Pending) => {
    if (pending.isOver) return
    pending.isOver = true
    if (pending.isConnection) shared.connections -= 1
    if (pending.name === '') return
    delete named[pending.name]
    leave(pending)
  }

  /** It is in flight no more. */
  const leave = (pending: Pending) => {
    if (!pending.isInFlight) return
    pending.isInFlight = false
    fetchesInFlight -= 1
    flushOutbox()
  }

  const close = (pending: Pending) => {
    pending.stream!.end()
    // First, so that the host has room for the next one.
    post('abortFetch', id, pending.name, '')
    finish(pending)
  }

  const sendParts = async (pending: Pending): Promise<void> => {
    pending.isSending = true
    let state = 'part'
    for (; state === 'part' && pending.wantedParts > 0; pending.wantedParts -= 1) {
      let part: unknown
      try {
        part = await pending.nextPart!()
        state = part === undefined ? 'last' : 'part'
        if (state === 'part' && !isPart(part)) state = 'failed'
      } catch {
        state = 'failed'
      }
      if (pending.isOver) return
      post('bodyPart', id, `${pending.name} ${state}`, state === 'part' ? (part as string | ArrayBuffer) : '')
    }
    pending.isSending = false
    if (pending.isClosing) return close(pending)
    if (!pending.isConnection || state === 'part') return
    pending.isSent = true
    if (pending.isReceived) finish(pending)
  }

  const begin = (
    request: string,
    site: CallSite,
    nextPart: NextPart | undefined,
    { isConnection, over }: Pick<Pending, 'isConnection' | 'over'>,
  ) => {
    shared.fetches += 1
    if (shared.fetches > limits.fetches) throw tooMany(site, `An event may make at most ${limits.fetches} requests`)
    if (request.length > limits.fetchCharacters) {
      const message = `fetch failed: the request is larger than ${limits.fetchCharacters} characters of JSON`
      throw placeAt(site, 'TypeError', new NativeTypeError(message))
    }
    let pending: Pending | undefined
    const answer = new NativePromise<Fetched>((resolve, reject) => {
      const body = { nextPart, wantedParts: 0, isSending: false }
      const connection = { isConnection, isSent: false, isReceived: false, isClosing: false, over, stream: undefined }
      const state = { isInFlight: false, isOver: false }
      pending = record({ name: '', request, site, ...body, ...state, ...connection, resolve, reject })
      if (isConnection) shared.connections += 1
      outbox.push(pending)
    })
    flushOutbox()
    const cancel = () => {
      if (pending === undefined) return
      if (pending.isOver) return
      if (pending.stream !== undefined) {
        if (!pending.isSending) return close(pending)
        pending.isClosing = true
        return
      }
      if (pending.name !== '') post('abortFetch', id, pending.name, '')
      finish(pending)
      pending.resolve(failed({ failure: 'aborted', message: 'The request was aborted' }))
    }
    return { answer, cancel }
  }

  const endWithRun = (pending: Pending) => {
    if (!pending.isConnection) return
    pending.stream?.end()
    try {
      pending.over!()
    } catch {
      // A listener of the code has thrown, after its run.
    }
    finish(pending)
  }

  return {
    begin: (request, site, nextPart) => begin(request, site, nextPart, { isConnection: false, over: undefined }),
    connect(request, site, { nextPart, secures, over }) {
      const former = secures === undefined ? undefined : named[secures]
      // It leaves its place among the connections.
      if (former !== undefined && former.isConnection) finish(former)
      if (shared.connections >= limits.connectionsAtOnce) {
        const answer = new NativePromise<Fetched>((resolve) => resolve(failed(tooManyConnections(limits))))
        return { answer, cancel() {} }
      }
      return begin(request, site, nextPart, { isConnection: true, over })
    },
    disconnect() {
      while (outbox.length > 0) endWithRun(outbox.shift()!)
      const names = keys(named)
      for (let index = 0; index < names.length; index += 1) {
        const pending = named[names[index]!]
        if (pending !== undefined) endWithRun(pending)
      }
    },
    send(fetch, parts) {
      const pending = named[fetch]
      if (pending === undefined) return
      pending.wantedParts += parts
      if (!pending.isSending) void sendParts(pending)
    },
    settle(fetch, answerText, body) {
      const pending = named[fetch]
      if (pending === undefined) return
      const answer = parse(answerText) as Fetched['answer']
      const onLast = (isFailed: boolean) => {
        pending.isReceived = true
        if (pending.isConnection && (isFailed || pending.isSent)) finish(pending)
      }
      const stream = hasOwn(answer, 'streams') ? inbound.open(`fetch/${fetch}`, onLast) : undefined
      const isOpen = pending.isConnection && stream !== undefined
      if (isOpen) {
        pending.stream = stream
        leave(pending)
      } else finish(pending)
      if (isRefusal(answer)) pending.reject(tooMany(pending.site, answer.message))
      else pending.resolve(record({ answer, body, stream, connection: isOpen ? fetch : undefined }))
    },
  }
}

/** The code that makes parts runs among bot code. */
function isPart(part: unknown): boolean {
  return (typeof part === 'string' ? part.length : bytesIn(part)) <= partBytes
}

function isRefusal(answer: Fetched['answer']): answer is FetchFailure {
  return hasOwn(answer, 'failure') && (answer as FetchFailure).failure === 'limit'
}

function failed(answer: FetchFailure): Fetched {
  return record({ answer, body: '', stream: undefined, connection: undefined })
}

function tooMany(site: CallSite, message: string): Error {
  return limitError('network', 'NetworkLimitError', message, site)
}
