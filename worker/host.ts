import type { Host, Json } from '#sandbox/contract.ts'
import { answer } from '#shared/answer.ts'
import type { BotCaller, OpenStreams } from '#shared/caller.ts'
import type { Context } from '#shared/context.ts'
import { isRecord } from '#shared/models/payload.ts'
import type { Installation } from '#shared/store/installations.ts'

/** The run for which the sandbox door is open. */
export interface DoorRun {
  botId: string
  /** The installed integration whose code it is; absent when it is the bot's own. */
  installation?: Installation
  eventId: string
  attempt: number
  /** The calls of actions that led to this run, for instance `callAction:1/`; empty for the event itself. */
  scope: string
  /** The streams that the event's handling has open, in whichever of its runs. */
  openStreams: OpenStreams
  /** Runs an action of the bot or of an installed integration. `scope` is the nested run's. */
  callAction(type: string, input: Record<string, unknown>, scope: string): Promise<Record<string, unknown>>
}

/**
 * The sandbox door: what code asks for is answered by the same operations that answer HTTP, with the bot as the caller,
 * or the integration that is installed on it. Calls are numbered as they arrive, which is the order in which the code made them.
 */
export function openDoor(context: Context, run: DoorRun): Host {
  const counts = new Map<string, number>()
  return ({ method, path, query, body }) =>
    answer(context, {
      method,
      path,
      ...(query && { query }),
      body: async () => body,
      identify(operation): BotCaller {
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
      },
    }) as ReturnType<Host>
}

/**
 * What a call is numbered as. How many parts a message is streamed in depends on how fast they cross: a run that is
 * repeated may make fewer of these calls, and must still find its other actions by their numbers.
 */
function journalName(operation: string, body: Json | undefined): string {
  const streams = operation === 'callAction' && isRecord(body) && body['type'] === 'chat:publishMessageStream'
  return streams ? 'publishMessageStream' : operation
}
