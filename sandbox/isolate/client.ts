import type { ClientOperation } from '../protocol/contract.ts'
import type { BotExports } from './bot-module.ts'
import { callSite, type CallSite } from './call-site.ts'
import { apiError } from './errors.ts'
import { readLines } from './line-stream.ts'
import { openMessageStream } from './message-stream.ts'
import { hookedOperations, sendHooked } from './outgoing.ts'
import { create, defineProperty, freeze, NativeWeakMap, parse, record, weakMapGet, weakMapSet } from './primordials.ts'
import { requestText } from './request.ts'
import { follow, followed, type KernelRun } from './run.ts'
import type { Stream } from './streams.ts'

/** The platform's operations by name, for one run. */
export type Client = object

export interface ClientOptions {
  run: KernelRun
  bot: BotExports
  logger: object
  /** The card of a flow that makes the calls; empty for other code. */
  scope?: string
}

/**
 * Makes the client of a run. This client runs the bot's hooks for outgoing data; the client that those hooks get runs
 * none.
 */
export type MakeClient = (options: ClientOptions) => Client

/** `finish`, if given, makes the final change to the input. It may wait; the call keeps its position meanwhile. */
type Send = (
  operation: ClientOperation,
  input: unknown,
  site: CallSite,
  finish?: (input: unknown) => Promise<unknown>,
) => Promise<unknown>

/** The run that a client makes calls for, and the two ways to make them. */
interface Caller {
  run: KernelRun
  /** Makes a call in its position among the calls of the run, with the operation's hooks. */
  send: Send
  /** Makes a call at once and without hooks. */
  sendNow: Send
}

/** Prepares the clients of an isolate. */
export function createClients(operations: ArrayLike<ClientOperation>): MakeClient {
  const makeClient = prepareClients(operations)
  return ({ run, bot, logger, scope = '' }) => {
    const { hostCalls } = run
    const sendNow: Send = async (operation, input, site, finish) => {
      const last = finish === undefined ? input : await finish(input)
      return unwrap(run, await hostCalls.makeNow(requestText(operation, last, site, scope), site), site)
    }

    let unhooked: Client | undefined
    const context = () => {
      unhooked ??= makeClient({ run, send: sendNow, sendNow })
      const { event } = run.shared
      return { event, client: unhooked, state: event.state, logger, env: run.environment }
    }

    const send: Send = async (operation, input, site, finish) => {
      const slot = hostCalls.reserve()
      try {
        const sendInOrder = async (what: unknown) => {
          const last = finish === undefined ? what : await finish(what)
          return unwrap(run, await hostCalls.make(slot, requestText(operation, last, site, scope), site), site)
        }
        const hooks = hookedOperations[operation.name]
        if (hooks === undefined) return await sendInOrder(input)
        return await sendHooked({ run, bot, hooks, input, send: sendInOrder, context })
      } finally {
        hostCalls.release(slot)
      }
    }
    return makeClient({ run, send, sendNow })
  }
}

/**
 * A client inherits one getter per operation, and the getter creates the function on access. Creating a function per
 * operation for each run took longer than a run does.
 */
function prepareClients(operations: ArrayLike<ClientOperation>): (caller: Caller) => Client {
  const callers = new NativeWeakMap<object, Caller>()
  const prototype = {}
  const define = (name: string, method: (caller: Caller, input: unknown, site: CallSite) => unknown) => {
    const get = function (this: object) {
      const caller = weakMapGet(callers, this)
      if (caller === undefined) return undefined
      const call = (input: unknown) => method(caller, input, callSite(call))
      return call
    }
    defineProperty(prototype, name, record({ get, enumerable: true }))
  }

  const named = create(null) as Record<string, ClientOperation>
  for (let index = 0; index < operations.length; index += 1) {
    const operation = operations[index]!
    named[operation.name] = operation
    const call = ({ run, send }: Caller, input: unknown, site: CallSite) =>
      follow(run, () => send(operation, input, site))
    define(
      operation.name,
      operation.streamsLines === true
        ? (caller, input, site) => readLines(() => call(caller, input, site) as Promise<Stream>, site)
        : call,
    )
  }
  const { callAction, createMessage } = named
  if (callAction !== undefined && createMessage !== undefined) {
    define('streamMessage', ({ run, send, sendNow }, conversationId) =>
      openMessageStream(
        run,
        {
          publish: (input, site) => sendNow(callAction, record({ type: 'chat:publishMessageStream', input }), site),
          createMessage: (input, site, finish) => send(createMessage, input, site, finish),
        },
        conversationId,
      ),
    )
  }
  freeze(prototype)
  return (caller) => {
    const client = create(prototype) as Client
    weakMapSet(callers, client, caller)
    return freeze(client)
  }
}

/** A reply, or the name of the stream in which it comes. */
interface Reply {
  status: number
  body: unknown
  kb?: unknown
  stream?: string
}

function unwrap(run: KernelRun, replyText: string, site: CallSite): unknown {
  const { status, body, kb, stream } = parse(replyText) as Reply
  if (status >= 400) throw apiError(status, body, site)
  if (stream !== undefined) return followed(run, run.inbound.open(stream))
  if (kb !== undefined) setKnowledge(run, kb)
  return body
}

/** Gives the event what its code has found, for the rest of its handling. The event is the code's, which may freeze it. */
export function setKnowledge({ shared }: KernelRun, kb: unknown): void {
  try {
    defineProperty(shared.event, 'kb', record({ value: kb, writable: true, enumerable: true, configurable: true }))
  } catch {
    // The code gets the result of its call in any case.
  }
}
