import type { JSX } from 'preact'
import type { TabProps } from '../bot/tab.ts'
import { Empty } from '../parts/loaded.tsx'
import { to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import { ConversationList } from './conversation-list.tsx'
import { ConversationPage } from './conversation-page.tsx'

/** The conversations of the bot, for the people who operate it. */
export function ConversationsTab({ bot, segments: [id] }: TabProps): JSX.Element {
  if (!mayChange.value) {
    return (
      <Empty title="Conversations are for developers">
        <p>They hold what users said. Ask an administrator of the workspace for the role of a developer.</p>
      </Empty>
    )
  }
  return id === undefined ? (
    <ConversationList key={bot.id} bot={bot} />
  ) : (
    <ConversationPage key={id} botId={bot.id} id={id} back={to('bots', bot.id, 'conversations') + location.search} />
  )
}
