import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { ask } from '../api/ask.ts'
import type { Bot } from '../api/types.ts'
import { chatIsOpen } from '../bot/tab.ts'
import { formatCount, shortId } from '../format.ts'
import { hasNoFocus } from '../parts/has-no-focus.ts'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { More } from '../parts/more.tsx'
import { moveBetweenRows } from '../parts/rows.ts'
import { Time } from '../parts/time.tsx'
import { useNewestFirst } from '../state/newest-first.ts'
import { to } from '../state/route.ts'
import { Filters, filterOfPage, isFiltered, toSearch } from './filters.tsx'
import { Tags } from './tags.tsx'

type Listed = AnswerOf<'listBotConversations'>['conversations'][number]

/** The conversation that was opened from the list, until the list is there again. */
let openedId: string | undefined

const everyMilliseconds = 5000
const maxTags = 3
/** As many messages as the list counts. */
const maxCounted = 1000

/** The conversations with the newest message first, and fields that search them. */
export function ConversationList({ bot }: { bot: Bot }): JSX.Element {
  const filter = filterOfPage()
  const key = `conversations ${bot.id} ${JSON.stringify(filter)}`
  // All requests of one search are one reading in the audit log.
  const reading = useRef<{ key: string; id?: string | undefined }>({ key })
  if (reading.current.key !== key) reading.current = { key }
  const load = async (abort: AbortSignal | undefined, nextToken?: string) => {
    const query = { ...toSearch(filter), pageSize: 50, nextToken, reading: reading.current.id }
    const page = await ask<'listBotConversations'>('GET', `/bots/${bot.id}/conversations`, {
      query,
      ...(abort && { abort }),
    })
    if (reading.current.key === key) reading.current.id = page.reading
    return { entries: page.conversations, nextToken: page.meta.nextToken, searchedUntil: page.searchedUntil }
  }
  // A search for a text reads many messages, so it is not repeated by itself.
  const isCheap = filter.text === '' && filter.user === '' && filter.tag === ''
  const { list, older } = useNewestFirst(key, {
    load,
    momentOf: ({ message }: Listed) => message,
    ...(isCheap && { every: everyMilliseconds }),
  })
  const section = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const row = openedId && section.current?.querySelector<HTMLElement>(`[data-row][href*="/${openedId}"]`)
    openedId = undefined
    // By keyboard, the list goes on at the conversation that was closed.
    if (row && hasNoFocus()) row.focus({ preventScroll: true })
  }, [])
  return (
    <section class="event-list" aria-label="Conversations" ref={section}>
      <Filters bot={bot} filter={filter} />
      <Loaded of={list} lines={10}>
        {({ entries: listed, nextToken, searchedUntil }) => (
          <>
            {listed.length === 0 && nextToken === undefined && <Nothing isFiltered={isFiltered(filter)} />}
            <ol class="plain" aria-label="Conversations, the newest message first" onKeyDown={moveBetweenRows}>
              {listed.map((conversation) => (
                <Row key={conversation.id} botId={bot.id} conversation={conversation} />
              ))}
            </ol>
            <More of={older} nextToken={nextToken} label="Show older conversations">
              {searchedUntil && (
                <span class="quiet" role="status">
                  Searched back to <Time at={searchedUntil} />
                </span>
              )}
            </More>
          </>
        )}
      </Loaded>
    </section>
  )
}

function Row({ botId, conversation }: { botId: string; conversation: Listed }): JSX.Element {
  const { id, user, message, tags, messageCount, installationAlias } = conversation
  return (
    <li>
      <a
        data-row
        class="conversation-row"
        href={to('bots', botId, 'conversations', id) + location.search}
        onClick={() => (openedId = id)}
      >
        <strong class="who" dir="auto">
          {user?.name ?? (user ? shortId(user.id) : 'No participant')}
        </strong>
        <span class="what" dir="auto">
          {message.author === 'user' ? (
            message.preview
          ) : (
            <>
              <span class="quiet">{message.author === 'bot' ? 'Bot' : 'Member'}: </span>
              <bdi>{message.preview}</bdi>
            </>
          )}
        </span>
        <span class="facts quiet">
          <span>{installationAlias}</span>
          <span>
            {formatCount(messageCount)}
            {messageCount === maxCounted && '+'} {messageCount === 1 ? 'message' : 'messages'}
          </span>
          <Tags tags={tags} limit={maxTags} />
        </span>
        <span class="number quiet when">
          <Time at={message.createdAt} />
        </span>
      </a>
    </li>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }): JSX.Element {
  if (isFiltered) return <Empty icon="search" title="No conversation matches" />
  return (
    <Empty icon="chat" title="No conversation yet">
      <p>Conversations appear here with their first message.</p>
      <button type="button" class="button primary" onClick={() => (chatIsOpen.value = true)}>
        <Icon name="chat" />
        Open the chat
      </button>
    </Empty>
  )
}
