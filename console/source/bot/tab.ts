import { signal } from '@preact/signals'
import type { Bot } from '../api/types.ts'

/** The properties of each tab of a bot's page. */
export interface TabProps {
  bot: Bot
  reloadBot: () => void
  /** The part of the address after the tab's name. */
  segments: string[]
}

/** Whether the chat is open beside the page; kept across tabs and bots. */
export const chatIsOpen = signal(false)

/** The properties of a form of the tab Settings. */
export interface FormProps {
  bot: Bot
  /** Changes the bot and shows a notice. @returns whether it succeeded */
  change: (body: object, done: string) => Promise<boolean>
}
