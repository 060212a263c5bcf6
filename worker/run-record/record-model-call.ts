import { createHash } from 'node:crypto'
import type { Context } from '#shared/context.ts'
import type { Execution, ModelCallReport } from '#shared/rpc/caller.ts'
import { insertModelContents } from '#shared/store/model-contents.ts'
import type { OpenStep } from './run-recorder.ts'

/** The run that made a call. */
interface AskingRun {
  eventId: string
  keepsPrompts?: boolean
  userId?: string | null
}

/**
 * Adds a call of language models to the timeline of its event, and keeps its question and answer where the bot does. The
 * record is for people: a failure to write it is logged, and the call goes on.
 *
 * @param call identifies the call in all runs of the event, which share its question and answer
 */
export async function recordModelCall(
  { db, log }: Context,
  { keepsPrompts, eventId, userId = null }: AskingRun,
  { step, call, report }: { step: OpenStep; call: Execution['call']; report: ModelCallReport },
): Promise<void> {
  const { facts } = report
  if (!keepsPrompts) return step.model(facts)
  const key = createHash('sha256').update(JSON.stringify(call)).digest('base64url').slice(0, 16)
  step.model({ ...facts, contents: key })
  await insertModelContents(db, { eventId, key, userId, ...report.contents() }).catch((err: unknown) => {
    log.warn({ err, eventId }, 'A question to a language model is not kept with its event')
  })
}
