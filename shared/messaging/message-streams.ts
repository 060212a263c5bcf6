import { publishEphemeral } from '../signals/after-commit.ts'
import type { BotContext, OpenStreams } from '../rpc/caller.ts'
import type { Context } from '../context.ts'
import type { Message } from '../models/message.ts'
import type { EphemeralSignal } from '../models/signal.ts'

/**
 * A message that is shown while it is being written: deltas, and in the end the message itself, whose
 * `metadata.streamId` says that it completes the stream, or the word that there will be none.
 */

/** Tells a conversation's listeners of a stream, and keeps in mind whether it is open. */
export async function publishStreamSignal(
  context: BotContext,
  conversationId: string,
  signal: Extract<EphemeralSignal, { type: 'message_stream_delta' | 'message_stream_abort' }>,
): Promise<void> {
  const open = context.caller.execution?.openStreams
  const { streamId } = signal.data
  if (signal.type === 'message_stream_delta') open?.set(streamId, conversationId)
  else open?.delete(streamId)
  await publishEphemeral(context, conversationId, signal)
}

/** Tells that a stream has become a message. The message is stored and told of in any case, so a failure is only logged. */
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

/** Tells listeners not to wait for the rest of what a run left unfinished. */
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
