import type { BotContext } from '../../rpc/caller.ts'
import { ApiError } from '../../errors.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { findRuntimeMessage } from '../../store/runtime-messages.ts'
import { findRuntimeUser } from '../../store/runtime-users.ts'
import { findWorkflow } from '../../store/workflows.ts'

interface References {
  conversationId?: string | undefined
  userId?: string | undefined
  messageId?: string | undefined
  workflowId?: string | undefined
}

/**
 * Checks that the resources in an input belong to the bot, and that the caller may access them.
 * @throws ApiError `ReferenceNotFound`
 */
export async function assertReferences(
  { db, caller }: BotContext,
  { conversationId, userId, messageId, workflowId }: References,
): Promise<void> {
  const references = [
    ['Conversation', conversationId, findScopedConversation],
    ['User', userId, findRuntimeUser],
    ['Message', messageId, findRuntimeMessage],
    ['Workflow', workflowId, findWorkflow],
  ] as const
  for (const [kind, id, find] of references) {
    if (id !== undefined && !(await find(db, caller, id))) {
      throw new ApiError('ReferenceNotFound', `${kind} '${id}' not found`)
    }
  }
}
