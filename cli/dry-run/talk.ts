import type { JsonObject, LogLine } from '#sandbox/protocol/contract.ts'
import { isRecord } from '#shared/models/payload.ts'
import { describePayload } from '../chat/describe-payload.ts'
import { misused } from '../failure.ts'
import { styled, withoutControlCharacters } from '../output.ts'
import { EventFailedError, type DryRunConversation, type Reply, type Variables } from './conversation.ts'
import type { DryRunCall, DryRunFetch } from './host.ts'
import type { DryRunResult } from './result.ts'

/** A step of a conversation in a file: a text that the user says, or an object with one of these fields. */
export type Step =
  | string
  | { say: string | JsonObject }
  | { start: string; workflow?: JsonObject; temp?: JsonObject }
  | { receive: Parameters<DryRunConversation['receive']>[0] }
  | { timeout: 'now' }
  | { resume: 'now' }

/** The content of a file with a conversation. */
export interface TalkFile {
  state: Partial<Variables>
  steps: Step[]
}

/** A step that was carried out. */
export interface TalkStep {
  step: Step
  replies: Reply[]
  calls: DryRunCall[]
  fetches: DryRunFetch[]
  logs: LogLine[]
}

export interface TalkResult {
  status: 'done' | 'failed'
  steps: TalkStep[]
  /** Where the conversation waits at the end; absent when no flow is in progress. */
  position?: NonNullable<DryRunConversation['position']>
  variables: Variables
  /** Of the last step. */
  error?: DryRunResult['error']
}

/** @throws Failure when the content of a file is no conversation */
export function toTalk(given: Record<string, unknown>): TalkFile {
  const { steps, state = {} } = given
  if (!Array.isArray(steps))
    throw misused('A conversation is { "state": { … }, "steps": ["hi", { "timeout": "now" }] }')
  if (!isRecord(state)) throw misused('"state" must be an object: { "user": { … } }')
  for (const step of steps) if (!isStep(step)) throw misused(`There is no step ${JSON.stringify(step)}: ${known}`)
  return { state, steps: steps as Step[] }
}

const known = 'a step is a text, or has say, start, receive, timeout or resume'

function isStep(step: unknown): boolean {
  if (typeof step === 'string') return true
  if (!isRecord(step)) return false
  if (isRecord(step['receive'])) return typeof step['receive']['type'] === 'string'
  if ('say' in step) return typeof step['say'] === 'string' || isRecord(step['say'])
  return typeof step['start'] === 'string' || step['timeout'] === 'now' || step['resume'] === 'now'
}

/** Carries out the steps, until one fails. */
export async function runTalk(conversation: DryRunConversation, steps: Step[]): Promise<TalkResult> {
  const done: TalkStep[] = []
  let error: DryRunResult['error']
  for (const step of steps) {
    const replies = await perform(conversation, step).catch((cause: unknown) => {
      if (!(cause instanceof EventFailedError)) throw cause
      error = cause.failure
      return []
    })
    const { calls, fetches, logs } = conversation
    done.push({ step, replies, calls, fetches, logs })
    if (error) break
  }
  const { position, variables } = conversation
  const status = error ? 'failed' : 'done'
  return { status, steps: done, ...(position && { position }), variables, ...(error && { error }) }
}

function perform(conversation: DryRunConversation, step: Step): Promise<Reply[]> {
  if (typeof step === 'string') return conversation.say(step)
  if ('say' in step) return conversation.say(step.say)
  if ('start' in step) return conversation.start(step.start, step)
  if ('receive' in step) return conversation.receive(step.receive)
  return 'timeout' in step ? conversation.timeout() : conversation.resume()
}

/** A conversation as text for people. */
export function showTalk({ steps, position, variables, error }: TalkResult): string {
  const lines = steps.flatMap(({ step, replies, logs }) => [
    styled('bold', `> ${clean(typeof step === 'string' ? step : JSON.stringify(step))}`),
    ...logs.map(({ level, message }) => styled('gray', clean(`  ${level} ${message}`))),
    ...replies.map((reply) => (typeof reply === 'string' ? clean(reply) : describePayload(reply).text)),
  ])
  const scopes = Object.entries(variables).filter(([, value]) => Object.keys(value as JsonObject).length > 0)
  const end = [
    position && `Waits for ${position.waitsFor} at ${position.flow}/${position.node}/${position.card}`,
    ...scopes.map(([scope, value]) => clean(`  ${scope} ${JSON.stringify(value)}`)),
    error &&
      `${styled('red', 'Failed')}: ${clean(`${error.hook ?? ''} ${error.name}: ${error.message}\n${error.stack}`)
        .trimStart()
        .trimEnd()}`,
  ]
  return [...lines, '', ...end.filter((line) => line !== undefined)].join('\n').trimEnd()
}

function clean(text: string): string {
  return withoutControlCharacters(text)
}
