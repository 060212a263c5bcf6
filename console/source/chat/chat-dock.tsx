import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isOfInputMethod } from '../../widget/frame/input-method.ts'
import { explain } from '../api/ask.ts'
import type { Bot, EventSummary } from '../api/types.ts'
import { Icon } from '../parts/icons.tsx'
import { Skeleton } from '../parts/loaded.tsx'
import { loadPart } from '../parts/load-part.ts'
import { useHeightOf } from '../parts/use-height-of.ts'
import { useAnswer } from '../state/resource.ts'
import { to } from '../state/route.ts'
import type { Conversation } from './conversation.ts'
import { Payload } from './payload.tsx'

const everyMilliseconds = 1000

/** A conversation with the bot, shown beside its page. */
export function ChatDock({ bot, onClose }: { bot: Bot; onClose: () => void }): JSX.Element {
  const [conversation, setConversation] = useState<Conversation>()
  const [problem, setProblem] = useState('')
  const [round, setRound] = useState(0)
  const webhookId = bot.integrations['chat']?.webhookId ?? ''

  useEffect(() => {
    let isGone = false
    let opened: Conversation | undefined
    setProblem('')
    setConversation(undefined)
    void (async () => {
      try {
        const { openConversation } = await loadPart(() => import('./conversation.ts'))
        opened = await openConversation(webhookId, round > 0)
        if (isGone) opened.end()
        else setConversation(opened)
      } catch (error) {
        setProblem(`The chat cannot be opened: ${explain(error)}`)
      }
    })()
    return () => {
      isGone = true
      opened?.end()
    }
  }, [webhookId, round])

  return (
    <aside class="chat" aria-label={`Chat with ${bot.name}`}>
      <header>
        <h2>Chat</h2>
        {conversation && (
          <a class="quiet" href={`${to('bots', bot.id, 'events')}?conversationId=${conversation.id}`}>
            Its events
          </a>
        )}
        <span class="spacer" />
        <button type="button" class="button small" onClick={() => setRound((round) => round + 1)}>
          New conversation
        </button>
        <button type="button" class="button icon-only" aria-label="Close the chat" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {conversation ? <Messages botId={bot.id} conversation={conversation} /> : <Skeleton lines={problem ? 0 : 3} />}
      <Composer conversation={conversation} onProblem={setProblem} />
    </aside>
  )
}

interface MessagesProps {
  botId: string
  conversation: Conversation
}

function Messages({ botId, conversation }: MessagesProps): JSX.Element {
  const { said, isAwaited, isAway, say } = conversation
  const unanswered = useUnanswered(botId, conversation)
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const list = end.current!
    list.scrollTop = list.scrollHeight
  }, [said.value, isAwaited.value, isAway.value, unanswered])
  return (
    <div class="messages" ref={end} tabIndex={0} role="log" aria-label="Messages">
      <ol class="plain">
        {said.value.length === 0 && <li class="quiet hint">Send a message: the bot receives it as from any user.</li>}
        {said.value.map(({ id, isBot, payload, isStreaming }) => (
          <li key={id} class={`${isBot ? 'bot' : 'you'} ${isStreaming ? 'streaming' : ''}`}>
            <span class="visually-hidden">{isBot ? 'Bot: ' : 'You: '}</span>
            <Payload payload={payload} say={(text, value) => void say(text, value)} />
          </li>
        ))}
        {isAwaited.value && (
          <li class="bot awaited" aria-label="The bot is working">
            <i />
            <i />
            <i />
          </li>
        )}
        {unanswered && (
          <li class="quiet hint">
            {unanswered.failureReason
              ? `The bot failed: ${unanswered.failureReason}`
              : 'No code of the bot handled this message, or people answer it.'}{' '}
            <a href={to('bots', botId, 'events', unanswered.id)}>Event</a>
          </li>
        )}
        {isAway.value && <li class="quiet hint">Connection lost; retrying.</li>}
      </ol>
    </div>
  )
}

/** The event of the last message, where it has ended without an answer because it failed, or nothing handled it. */
function useUnanswered(botId: string, { id, said, isAwaited }: Conversation): EventSummary | undefined {
  const last = said.value.at(-1)
  const asked = last?.isBot === false ? last.id : undefined
  const { data } = useAnswer<'listBotEvents'>(asked && `/bots/${botId}/events`, {
    query: { conversationId: id, pageSize: 5 },
    ...(isAwaited.value && { every: everyMilliseconds }),
  })
  const event = asked === undefined ? undefined : data?.events.find(({ messageId }) => messageId === asked)
  const hasEnded = event !== undefined && ['processed', 'failed', 'ignored'].includes(event.status)
  useEffect(() => {
    if (hasEnded) isAwaited.value = false
  }, [hasEnded])
  return event?.status === 'failed' || event?.status === 'ignored' ? event : undefined
}

interface ComposerProps {
  conversation: Conversation | undefined
  onProblem: (problem: string) => void
}

function Composer({ conversation, onProblem }: ComposerProps): JSX.Element {
  const [text, setText] = useState('')
  // Messages typed before the conversation is open, sent once it is.
  const [waiting, setWaiting] = useState<string[]>([])
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus(), [])
  useHeightOf(text, field)
  useEffect(() => {
    const [words, ...others] = waiting
    if (!conversation || words === undefined) return
    setWaiting(others)
    conversation.say(words).then(
      () => onProblem(''),
      (error) => onProblem(`“${words}” was not sent: ${explain(error)}`),
    )
  }, [conversation, waiting])
  const send = (event: Event) => {
    event.preventDefault()
    const words = text.trim()
    if (words === '') return
    setText('')
    setWaiting([...waiting, words])
  }
  return (
    <form class="composer" onSubmit={send}>
      <textarea
        ref={field}
        rows={1}
        dir="auto"
        aria-label="Message"
        placeholder="Message"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !isOfInputMethod(event)) send(event)
        }}
      />
      <button type="submit" class="button primary icon-only" aria-label="Send">
        <Icon name="send" />
      </button>
    </form>
  )
}
