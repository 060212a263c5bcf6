import { membership } from '../state/session.ts'
import { newKey } from './replies.ts'

/** A text that is not sent yet. Its keys let each part be sent once, however often it is tried. */
export interface Draft {
  text: string
  textKey: string
  file?: File | undefined
  fileKey: string
}

/** The kinds of texts that members write in a conversation. */
export type Kind = 'reply' | 'note'

/** Unsent texts by member, conversation and kind. They outlive the page of the conversation, and errors. */
const drafts = new Map<string, Draft>()

export function emptyDraft(): Draft {
  return { text: '', textKey: newKey(), fileKey: newKey() }
}

export function draftOf(conversationId: string, kind: Kind): Draft {
  return drafts.get(keyOf(conversationId, kind)) ?? emptyDraft()
}

export function keepDraft(conversationId: string, kind: Kind, draft: Draft): void {
  drafts.set(keyOf(conversationId, kind), draft)
}

function keyOf(conversationId: string, kind: Kind): string {
  return `${membership.value?.id} ${conversationId} ${kind}`
}
