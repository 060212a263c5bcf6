import { Drafts } from '../state/drafts.ts'
import { newKey } from './replies.ts'

/** A text that is not sent yet. Its keys let each part be sent once, however often it is tried. */
export interface Draft {
  text: string
  textKey: string
  files: AttachedFile[]
}

export interface AttachedFile {
  content: File
  key: string
}

/** The kinds of texts that members write in a conversation. */
export type Kind = 'reply' | 'note'

/** Unsent texts by conversation and kind. */
const drafts = new Drafts<Draft>()

export function emptyDraft(): Draft {
  return { text: '', textKey: newKey(), files: [] }
}

export function draftOf(conversationId: string, kind: Kind): Draft {
  return drafts.get(`${conversationId} ${kind}`) ?? emptyDraft()
}

export function keepDraft(conversationId: string, kind: Kind, draft: Draft): void {
  drafts.set(`${conversationId} ${kind}`, draft)
}
