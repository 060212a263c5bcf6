import { useRef, useState } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { ask, explain } from '../api/ask.ts'
import { notify } from '../state/notices.ts'
import { useResource, type Resource } from '../state/resource.ts'
import { useConversationLines, type FollowedConversation } from './follow-conversation.ts'
import { isMine } from './handover.ts'
import { useHandovers, type HandoverWithNotes } from './use-handovers.ts'
import { withNewest, withOlder, type LoadedMessages } from './messages.ts'

const everyMilliseconds = 2500
/** For the member who answers, for whom the user waits. */
const everyMillisecondsOfMine = 1000
/** Where live lines tell of news: for tags, states and the outcomes of events, of which they do not tell. */
const everyMillisecondsLive = 10_000
const pageSize = 50

interface Answers {
  about: AnswerOf<'getBotConversation'>
  loaded: LoadedMessages
  handovers: HandoverWithNotes[]
}

export interface OpenTranscript {
  resource: Resource<Answers>
  /** Whether older messages are being loaded. */
  isBusy: boolean
  loadOlder: () => Promise<void>
  writings: FollowedConversation['writings']
}

/**
 * A conversation and its messages, with news while the page is visible, and what the bot is writing. The requests of one opening
 * are one reading in the audit log: the first one begins it, and the others follow with its id.
 */
export function useTranscript(botId: string, conversationId: string): OpenTranscript {
  const path = `/bots/${botId}/conversations/${encodeURIComponent(conversationId)}`
  const [reading, setReading] = useState<string>()
  const readingNow = useRef<string>(undefined)
  const loaded = useRef<LoadedMessages>({ messages: [] })
  const [isBusy, setIsBusy] = useState(false)
  const handovers = useHandovers(botId, conversationId)
  const [every, setEvery] = useState(everyMilliseconds)
  const load = async (abort: AbortSignal) => {
    const about = await ask<'getBotConversation'>('GET', path, { query: { reading: readingNow.current }, abort })
    readingNow.current = about.reading
    setReading(about.reading)
    setEvery(isMine(about.handover) ? everyMillisecondsOfMine : everyMilliseconds)
    const query = { pageSize, reading: readingNow.current }
    const [page, listed] = await Promise.all([
      ask<'listBotConversationMessages'>('GET', `${path}/messages`, { query, abort }),
      handovers.load(about.handover, abort),
    ])
    loaded.current = withNewest(loaded.current, page)
    return { about, loaded: loaded.current, handovers: listed }
  }
  const { isFollowing, writings } = useConversationLines(path, reading, () => resource.reload())
  const resource: Resource<Answers> = useResource(`transcript ${path}`, load, {
    every: isFollowing ? everyMillisecondsLive : every,
  })
  const loadOlder = async () => {
    const { nextToken } = loaded.current
    setIsBusy(true)
    try {
      const query = { pageSize, nextToken, reading: readingNow.current }
      const page = await ask<'listBotConversationMessages'>('GET', `${path}/messages`, { query })
      // News may have dropped the messages that the page continues.
      if (loaded.current.nextToken === nextToken) loaded.current = withOlder(loaded.current, page)
    } catch (error) {
      notify('bad', explain(error))
    } finally {
      setIsBusy(false)
    }
  }
  const { data } = resource
  /** After an action of the member. */
  const reload = () => {
    handovers.forget()
    resource.reload()
  }
  return {
    resource: { ...resource, reload, data: data && { ...data, loaded: latestOf(loaded.current, data.loaded) } },
    isBusy,
    loadOlder,
    writings,
  }
}

/** A page that is opened again shows its last answer until it has a new one. */
function latestOf(loaded: LoadedMessages, answered: LoadedMessages): LoadedMessages {
  return loaded.messages.length > 0 ? loaded : answered
}
