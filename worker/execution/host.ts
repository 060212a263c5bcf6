import { setTimeout as pause } from 'node:timers/promises'
import type { HostCall, HostReply, Json } from '#sandbox/protocol/contract.ts'
import { dispatch, type Reply, type Request } from '#shared/dispatch.ts'
import type { BotCaller, OpenStreams } from '#shared/rpc/caller.ts'
import type { Context } from '#shared/context.ts'
import type { Operation } from '#shared/rpc/operation.ts'
import { isRecord } from '#shared/models/payload.ts'
import type { Installation } from '#shared/models/tables.ts'

/** The run for which the sandbox door is open. */
export interface HostRun {
  botId: string
  /** The installed integration whose code it is; absent when it is the bot's own. */
  installation?: Installation
  eventId: string
  attempt: number
  /** The calls of actions that led to this run, for instance `callAction:1/`; empty for the event itself. */
  scope: string
  /** The streams that the event's handling has open, in whichever of its runs. */
  openStreams: OpenStreams
  /** A call is made; tells of what it turns out to be, and when it is answered. */
  onCall?(name: string): { name(name: string): void; end(status: number): void }
  /** Runs an action of the bot or of an installed integration. `scope` is the nested run's. */
  callAction(type: string, input: Record<string, unknown>, scope: string): Promise<Record<string, unknown>>
}

/**
 * The sandbox door: what code asks for is answered by the same operations that answer HTTP, with the bot as the caller,
 * or the integration that is installed on it. Calls are numbered as they arrive, which is the order in which the code made them.
 */
export function createHostHandler(context: Context, run: HostRun): (call: HostCall) => Promise<HostReply> {
  const counts = new Map<string, number>()
  return async ({ method, path, query, body }) => {
    let caller: BotCaller | undefined
    const step = run.onCall?.(`${method} ${path}`)
    const reply = await answerPatiently(context, {
      method,
      path,
      ...(query && { query }),
      body: async () => body,
      // A call that is made again is still the same call.
      identify: (operation) => (caller ??= toCaller(operation)),
    })
    step?.end(reply.status)
    return reply as HostReply

    function toCaller(operation: Operation): BotCaller {
      step?.name(operation.name)
      const name = journalName(operation.name, body)
      const ordinal = (counts.get(name) ?? 0) + 1
      counts.set(name, ordinal)
      return {
        kind: 'bot',
        botId: run.botId,
        ...(run.installation && { installation: run.installation }),
        execution: {
          eventId: run.eventId,
          attempt: run.attempt,
          openStreams: run.openStreams,
          call: { operation: `${run.scope}${name}`, ordinal },
          callAction: (type, input) => run.callAction(type, input, `${run.scope}${name}:${ordinal}/`),
        },
      }
    }
  }
}

/** So often a call is made again that found something away although it was here again by the time it was looked for. */
const maxRetries = 5
const pauseMilliseconds = 200

/**
 * Code hears nothing of it when the database or Redis is away: its calls take longer, until they are back or the run's
 * time is up. What a call had written by then is journalled, so that it is not written again.
 */
async function answerPatiently(context: Context, request: Request): Promise<Reply> {
  const { all } = context.dependencies
  let reply = await dispatch(context, request)
  for (let breaks = 0; reply.status === 503 && breaks < maxRetries;) {
    if (all.every((dependency) => dependency.isUp())) breaks++
    await Promise.all(all.map((dependency) => dependency.waitUntilUp()))
    await pause(pauseMilliseconds)
    reply = await dispatch(context, request)
  }
  return reply
}

/**
 * What a call is numbered as. How many parts a message is streamed in depends on how fast they cross: a run that is
 * repeated may make fewer of these calls, and must still find its other actions by their numbers.
 */
function journalName(operation: string, body: Json | undefined): string {
  const streams = operation === 'callAction' && isRecord(body) && body['type'] === 'chat:publishMessageStream'
  return streams ? 'publishMessageStream' : operation
}
