import type { Appearance } from '../../shared/models/webchat-appearance.ts'
import type { Message } from './frame/types.ts'

/**
 * The messages between the script of a page and the frame. The page opens a channel and gives the frame one end of it,
 * in a message that only the platform's origin receives; all further messages go through the channel.
 */

/** Where the chat is shown: behind a bubble, in an element of the page, or as a page of its own. */
export type Mode = 'bubble' | 'embedded' | 'page'

/** A page's description of its visitor. */
export interface GivenUser {
  name?: string
  pictureUrl?: string
  data?: Record<string, unknown>
  /** A key that the site has signed. */
  userKey?: string
}

/** The message with the end of the channel. */
export interface Hello {
  isobot: 'webchat'
  mode: Mode
  isOpen: boolean
  /** Fields that replace those of the configuration. */
  appearance: Appearance
  user: GivenUser
  conversationId?: string
  /** Whether the page can renew a key that has expired. */
  renewsKeys: boolean
  /** Messages to show in place of a conversation: the frame then connects to nothing and stores nothing. */
  sample?: Message[]
}

/** Members of `window.botpress` that the frame carries out. */
export type Method = 'sendMessage' | 'sendEvent' | 'updateUser' | 'getUser' | 'restartConversation'

export type ToFrame =
  | { type: 'visibility'; isOpen: boolean }
  | { type: 'configure'; appearance: Appearance }
  | { type: 'call'; id: number; method: Method; argument: unknown }
  | { type: 'key'; userKey: string | undefined }

export type ToPage =
  | { type: 'ready' }
  | { type: 'unread'; count: number }
  | { type: 'visibility'; visibility: 'show' | 'hide' | 'toggle' }
  | { type: 'event'; name: string; data: unknown }
  | { type: 'result'; id: number; value?: unknown; error?: string }
  | { type: 'keyNeeded' }

export const helloMark = 'webchat'
