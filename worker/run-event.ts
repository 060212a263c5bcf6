import type { EventTask, Host, JsonObject, Outcome, Run } from '#sandbox/contract.ts'
import type { OpenStreams } from '#shared/caller.ts'
import { unknownAction } from '#shared/call-action.ts'
import { toSourceStack } from '#shared/compile-bot.ts'
import { ApiError } from '#shared/errors.ts'
import { abortStreams } from '#shared/message-streams.ts'
import { incomingEventStages, incomingMessageStages, turnEndStage } from '#shared/models/bot-code.ts'
import { actionTriggered, messageCreated } from '#shared/models/event.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import type { BotVersion } from './bundles.ts'
import { toEventObject } from './event-object.ts'
import { openDoor } from './host.ts'
import { limits } from './limits.ts'
import type { Tools } from './worker.ts'

/**
 * Runs a claimed event in the bot's isolate.
 *
 * @returns undefined when the version declares nothing that would run for it
 */
export async function runEvent(tools: Tools, event: ClaimedEvent, version: BotVersion): Promise<Outcome | undefined> {
  const task = event.type === actionTriggered ? actionTask(event) : eventTask(event, version)
  if (!task) return undefined
  const openStreams: OpenStreams = new Map()
  try {
    return await runInSandbox(tools, { event, version, task, scope: '', openStreams })
  } finally {
    await abortStreams(tools, openStreams)
  }
}

function actionTask(event: ClaimedEvent): Run['task'] {
  const { type, input } = event.payload as { type: string; input: JsonObject }
  return { kind: 'action', name: type, input, event: toEventObject(event), streamPrefix: streamPrefix(event) }
}

function eventTask(event: ClaimedEvent, { hooks }: BotVersion): EventTask | undefined {
  const stages = event.type === messageCreated ? incomingMessageStages : incomingEventStages
  if (![...stages, turnEndStage].some((stage) => hooks.includes(stage))) return undefined
  return {
    kind: 'event',
    event: toEventObject(event),
    stages: [...stages],
    finally: turnEndStage,
    streamPrefix: streamPrefix(event),
  }
}

/** A run that is repeated names its streams as before, so that listeners replace what they show of them. */
function streamPrefix(event: ClaimedEvent, scope = ''): string {
  return `${event.id}/${scope}`
}

interface Part {
  event: ClaimedEvent
  version: BotVersion
  task: Run['task']
  /** See `DoorRun`. */
  scope: string
  openStreams: OpenStreams
}

function runInSandbox(tools: Tools, { event, version, task, scope, openStreams }: Part): Promise<Outcome> {
  const id = `${event.id}#${event.attempt}/${scope}`
  const host: Host = openDoor(tools, {
    botId: event.bot_id,
    eventId: event.id,
    attempt: event.attempt,
    scope,
    openStreams,
    async callAction(name, input, nestedScope) {
      if (!version.actions.includes(name)) throw unknownAction(name, version.actions)
      const nested: Run['task'] = {
        kind: 'action',
        name,
        input: input as JsonObject,
        event: {},
        within: id,
        streamPrefix: streamPrefix(event, nestedScope),
      }
      return outputOf(
        name,
        await runInSandbox(tools, { event, version, task: nested, scope: nestedScope, openStreams }),
      )
    },
  })
  const bundle = { id: version.id, botId: version.bot_id, code: version.script }
  return tools.sandbox.run({ id, bundle, task, limits: limits(tools.config.sandbox), host })
}

function outputOf(name: string, outcome: Outcome): Record<string, unknown> {
  if (outcome.status === 'done') return outcome.result as Record<string, unknown>
  if (outcome.status === 'failed')
    throw new ApiError('Runtime', `The action '${name}' failed: ${outcome.error.message}`)
  throw new ApiError('Internal', `The action '${name}' was interrupted`, { cause: new Error(outcome.reason) })
}

/** Why a run failed, for the event and for the bot's log. */
export interface Failure {
  /** One line. */
  reason: string
  /** With the author's own file, line and column where there are any. */
  details: string
}

export function describeFailure(outcome: Outcome & { status: 'failed' }, version: BotVersion): Failure {
  const { name, message, stack } = outcome.error
  const what = outcome.reason === 'error' ? `${name}: ${message}` : `${outcome.reason}: ${message}`
  const where = stack ? `\n${toSourceStack(stack, version.source_map)}` : ''
  return { reason: what.slice(0, 2000), details: what + where }
}
