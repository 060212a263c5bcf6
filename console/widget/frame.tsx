import { render } from 'preact'
import type { Appearance } from '../../shared/models/webchat-appearance.ts'
import { App } from './frame/app.tsx'
import { openChat } from './frame/chat.ts'
import { helloMark, type Hello, type ToFrame, type ToPage } from './protocol.ts'
import './frame/frame.css'
import './frame/message.css'
import './frame/composer.css'
import './frame/conversations.css'

/** Gestures by which a visitor turns to a chat that is part of the page. */
const gestures = ['pointerdown', 'keydown', 'focusin'] as const

/** The page at `…/frame`, which waits for the page around it, and at `…/chat`, which stands alone. */
function start(): void {
  const given = JSON.parse(document.documentElement.dataset['appearance'] ?? '{}') as Appearance
  const isAlone = location.pathname.endsWith('/chat')
  if (isAlone) {
    const hello: Hello = { isobot: helloMark, mode: 'page', isOpen: true, appearance: {}, user: {}, renewsKeys: false }
    return show(given, hello, undefined)
  }
  addEventListener('message', function take({ source, data, ports: [port] }: MessageEvent<Partial<Hello> | null>) {
    // The policy decides which pages may show the frame; of these only the one around it has a word.
    if (source !== window.parent || data?.isobot !== helloMark || !port) return
    removeEventListener('message', take)
    show(given, data as Hello, port)
  })
}

function show(given: Appearance, hello: Hello, port: MessagePort | undefined): void {
  const post = (message: ToPage) => port?.postMessage(message)
  const chat = openChat(new URL('.', location.href).href, given, hello, post)
  port?.addEventListener('message', ({ data }: MessageEvent<ToFrame>) => chat.take(data))
  port?.start()
  document.body.replaceChildren()
  render(<App chat={chat} />, document.body)
  post({ type: 'ready' })
  if (hello.sample) return
  // A visitor who was here before has a conversation; another begins one by opening the chat, not by viewing a page.
  if (chat.isKnown() || (hello.isOpen && hello.mode !== 'embedded')) return chat.enter()
  if (hello.mode === 'embedded') for (const gesture of gestures) addEventListener(gesture, chat.enter, { once: true })
}

start()
