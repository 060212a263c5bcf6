import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { WidgetTextName } from '../../../shared/models/webchat-appearance.ts'
import type { Conversation } from './types.ts'
import { useView, type View } from './view.ts'

/** The visitor's conversations, the newest first. */
export function Conversations({ leave }: { leave: () => void }): JSX.Element {
  const { chat, text, locale } = useView()
  const start = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    start.current?.focus()
    // The list that was read before stays.
    chat.listConversations().catch(() => {})
  }, [])
  const listed = chat.conversations.value
  const open = (id: string | undefined) => {
    chat.openConversation(id)
    leave()
  }
  return (
    <section class="conversations" aria-label={text('conversations')}>
      <button type="button" class="option" ref={start} onClick={() => open(undefined)}>
        {text('newConversation')}
      </button>
      {listed?.length === 0 && <p class="quiet">{text('noConversations')}</p>}
      <ul>
        {listed?.map((conversation) => (
          <li key={conversation.id}>
            <button
              type="button"
              aria-current={conversation.id === chat.currentId() ? 'true' : undefined}
              onClick={() => open(conversation.id)}
            >
              <span dir="auto">{previewOf(conversation, text)}</span>
              <time dateTime={conversation.updatedAt} class="quiet">
                {new Date(conversation.updatedAt).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' })}
              </time>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Texts for messages without words. */
const kinds = new Map<unknown, WidgetTextName>([
  ['image', 'image'],
  ['audio', 'audio'],
  ['video', 'video'],
  ['file', 'file'],
  ['location', 'location'],
  ['card', 'cards'],
  ['carousel', 'cards'],
])

function previewOf({ lastMessage }: Conversation, text: View['text']): string {
  const payload = lastMessage?.payload
  const preview = payload?.['text'] ?? payload?.['markdown'] ?? payload?.['title']
  if (typeof preview === 'string' && preview !== '') return preview.slice(0, 200)
  return text(kinds.get(payload?.type) ?? 'unsupported')
}
