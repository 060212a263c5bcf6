import { signal } from '@preact/signals'
import type { Bot } from '../api/types.ts'

/** What every tab of a bot's page is given. */
export interface TabProps {
  bot: Bot
  reloadBot: () => void
  /** What follows the tab's name in the address. */
  segments: string[]
}

/** Whether the chat stands beside the page; from one tab, and one bot, to the next. */
export const chatIsOpen = signal(false)
