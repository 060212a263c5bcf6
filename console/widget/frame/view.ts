import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { WidgetTextName } from '../../../shared/models/webchat-appearance.ts'
import type { Chat } from './chat.ts'

/** The values that all parts of the page share. */
export interface View {
  chat: Chat
  /** The language of times. */
  locale: string
  text(name: WidgetTextName, values?: Record<string, string>): string
}

export const ViewContext = createContext<View | undefined>(undefined)

export function useView(): View {
  return useContext(ViewContext)!
}
