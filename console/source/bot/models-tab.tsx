import type { JSX } from 'preact'
import { ModelsView } from '../models/models-view.tsx'
import type { TabProps } from './tab.ts'

/** The bot's use of language models, and its budget. */
export function ModelsTab({ bot }: TabProps): JSX.Element {
  return <ModelsView botId={bot.id} />
}
