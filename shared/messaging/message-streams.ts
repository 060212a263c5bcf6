import { publishEphemeral } from '../signals/after-commit.ts'
import type { BotContext, OpenStreams } from '../rpc/caller.ts'
import type { Context } from '../context.ts'
import type { Message } from '../models/message.ts'
import type { EphemeralSignal } from '../models/signal.ts'

/**
 * A message stream shows a message while it is being written: deltas, followed either by the message itself, whose
 * `metadata.streamId` names the stream that it completes, or by an abort.
 */

/** Publishes a stream's signal to a conversation's listeners, and records whether the run has the stream open. */
export async function publishStreamSignal(
  context: BotContext,
  conversationId: string,
  signal: Extract<EphemeralSignal, { type: 'message_stream_delta' | 'message_stream_abort' }>,
): Promise<void> {
  const { execution } = context.caller
  const { streamId } = signal.data
  if (signal.type === 'message_stream_delta') execution?.openStreams.set(streamId, conversationId)
  else execution?.openStreams.delete(streamId)
  const run = execution && { eventId: execution.eventId, attempt: execution.attempt }
  await publishEphemeral(context, conversationId, signal, run)
}

/**
 * Publishes that a stream has become a message. The message is stored and published in any case, so a failure is only
 * logged.
 */
export async function completeStream(context: BotContext, streamId: string, message: Message): Promise<void> {
  context.caller.execution?.openStreams.delete(streamId)
  try {
    await publishEphemeral(context, message.conversationId, {
      type: 'message_stream_complete',
      data: { streamId, message },
    })
  } catch (error) {
    context.log.error({ err: error, streamId }, 'Publishing the end of a message stream failed')
  }
}

/** Aborts the streams that a run has left open, so that listeners do not wait for more of them. */
export async function abortStreams(context: Context, open: OpenStreams): Promise<void> {
  for (const [streamId, conversationId] of open) {
    try {
      await publishEphemeral(context, conversationId, {
        type: 'message_stream_abort',
        data: { streamId, conversationId },
      })
    } catch (error) {
      context.log.error({ err: error, streamId }, 'Publishing the end of a message stream failed')
    }
  }
}
