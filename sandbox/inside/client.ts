import type { ClientOperation } from '../contract.ts'
import type { BotExports } from './bot-module.ts'
import { apiError } from './errors.ts'
import { hookedOperations, sendHooked } from './outgoing.ts'
import { create, defineProperty, freeze, NativeWeakMap, parse, record, weakMapGet, weakMapSet } from './primordials.ts'
import { requestText } from './request.ts'
import { never, type KernelRun } from './run.ts'

/** The platform's operations by name, for one run. */
export type Client = object

export interface ClientOptions {
  run: KernelRun
  bot: BotExports
  logger: object
}

/** Makes the client of a run, which runs the bot's hooks for what it sends. The client that those hooks get runs none. */
export type MakeClient = (options: ClientOptions) => Client

type Send = (operation: ClientOperation, input: unknown) => Promise<unknown>

/** Prepares the clients of an isolate. */
export function createClients(operations: ArrayLike<ClientOperation>): MakeClient {
  const makeClient = prepareClients(operations)
  return ({ run, bot, logger }) => {
    let unhooked: Client | undefined
    const context = () => {
      unhooked ??= makeClient(run, async (operation, input) =>
        unwrap(await run.hostCalls.makeNow(requestText(operation, input))),
      )
      return { event: run.shared.event, client: unhooked, state: run.shared.event.state, logger }
    }

    return makeClient(run, async (operation, input) => {
      const place = run.hostCalls.reserve()
      try {
        const send = async (what: unknown) => unwrap(await run.hostCalls.make(place, requestText(operation, what)))
        const hooks = hookedOperations[operation.name]
        return await (hooks === undefined ? send(input) : sendHooked({ run, bot, hooks, input, send, context }))
      } finally {
        run.hostCalls.release(place)
      }
    })
  }
}

/**
 * A client inherits a getter for each operation, which makes the function when it is asked for: a function for each
 * operation of each run took longer than a run does.
 */
function prepareClients(operations: ArrayLike<ClientOperation>): (run: KernelRun, send: Send) => Client {
  const callers = new NativeWeakMap<object, { run: KernelRun; send: Send }>()
  const prototype = {}
  for (let index = 0; index < operations.length; index += 1) {
    const operation = operations[index]!
    const get = function (this: object) {
      const caller = weakMapGet(callers, this)
      return caller && ((input: unknown) => follow(caller.run, () => caller.send(operation, input)))
    }
    defineProperty(prototype, operation.name, record({ get, enumerable: true }))
  }
  freeze(prototype)
  return (run, send) => {
    const client = create(prototype) as Client
    weakMapSet(callers, client, { run, send })
    return freeze(client)
  }
}

/**
 * Counts an operation as pending until it settles: a run does not end before. Adds no handler to the promise that bot
 * code gets, so that V8 still reports a rejection that nobody handles.
 */
async function follow(run: KernelRun, work: () => Promise<unknown>): Promise<unknown> {
  if (run.ended) return never()
  run.pendingOperations += 1
  try {
    return await work()
  } finally {
    run.pendingOperations -= 1
    if (run.pendingOperations === 0) run.onQuiet?.()
  }
}

function unwrap(replyText: string): unknown {
  const { status, body } = parse(replyText) as { status: number; body: unknown }
  if (status >= 400) throw apiError(status, body)
  return body
}
