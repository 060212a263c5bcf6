import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { colorsOf, radiusOf } from '../looks.ts'
import { directionOf, languageOf, localeOf } from '../locale.ts'
import { textsIn } from '../texts/texts.ts'
import type { Chat } from './chat.ts'
import { Composer } from './composer.tsx'
import { Conversations } from './conversations.tsx'
import { Footer } from './footer.tsx'
import { Icon } from './icons.tsx'
import { isOfInputMethod } from './input-method.ts'
import { safeSource } from './links.ts'
import { Messages } from './messages.tsx'
import { ViewContext, type View } from './view.ts'

/** The whole chat: a header, and the conversation or the list of conversations below it. */
export function App({ chat }: { chat: Chat }): JSX.Element {
  const { appearance, mode } = chat
  const { botName, botDescription, botAvatar, color, radius, fontFamily } = appearance.value
  const { locale: configured, texts: own, themeMode } = appearance.value
  const [isListing, setIsListing] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const locale = localeOf(configured, own)
  const view = useMemo((): View => {
    const texts: Record<string, string> = { ...textsIn(languageOf(locale)), ...own }
    const text: View['text'] = (name, values = {}) =>
      texts[name]!.replaceAll(/\{(\w+)\}/g, (whole, value: string) => values[value] ?? whole)
    return { chat, locale: supported(locale), text }
  }, [chat, locale, own])
  const { text } = view
  const title = botName ?? text('title')

  useEffect(() => {
    const { documentElement: html } = document
    html.lang = locale
    html.dir = directionOf(locale)
    html.dataset['theme'] = themeMode ?? 'auto'
    html.dataset['mode'] = mode
    const { accent, onAccent } = colorsOf(color)
    html.style.setProperty('--accent', accent)
    html.style.setProperty('--on-accent', onAccent)
    html.style.setProperty('--radius', String(radiusOf(radius)))
    html.style.setProperty('--font', fontFamily ?? '')
    document.title = title
  }, [locale, themeMode, color, radius, fontFamily, title, mode])

  useEffect(() => {
    if (mode !== 'bubble') return
    const press = (event: KeyboardEvent) => {
      if (isOfInputMethod(event)) return
      if (event.key === 'Escape') chat.hide()
      else if (event.key === 'Tab') keepFocus(event, root.current!)
    }
    // Keys without a focus go to the body, which is not within the chat.
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  const avatar = safeSource(botAvatar, 'picture')
  const showsList = appearance.value.conversationHistory !== false

  return (
    <ViewContext.Provider value={view}>
      <div
        class="chat"
        role={mode === 'bubble' ? 'dialog' : undefined}
        aria-labelledby={mode === 'bubble' ? 'title' : undefined}
        ref={root}
      >
        <header>
          {avatar !== undefined && <img src={avatar} alt="" referrerpolicy="no-referrer" />}
          <div class="title">
            <h1 id="title">{title}</h1>
            {botDescription !== undefined && <p>{botDescription}</p>}
          </div>
          {showsList && (
            <button
              type="button"
              class="icon"
              aria-label={text(isListing ? 'back' : 'conversations')}
              onClick={() => setIsListing(!isListing)}
            >
              <Icon name={isListing ? 'back' : 'list'} className={isListing ? 'mirrored' : ''} />
            </button>
          )}
          {mode === 'bubble' && (
            <button type="button" class="icon" aria-label={text('close')} onClick={() => chat.hide()}>
              <Icon name="close" />
            </button>
          )}
        </header>
        <main>
          {isListing ? (
            <Conversations leave={() => setIsListing(false)} />
          ) : (
            <>
              <Messages />
              <Composer />
              <Footer />
            </>
          )}
        </main>
      </div>
    </ViewContext.Provider>
  )
}

/** Keeps the focus in the dialog while it is open: from the last control the next is the first. */
function keepFocus(event: KeyboardEvent, root: HTMLElement): void {
  const selector = 'a[href], button:enabled, textarea, select, audio, video, [tabindex="0"]'
  const controls = [...root.querySelectorAll<HTMLElement>(selector)]
  const edge = event.shiftKey ? controls[0] : controls.at(-1)
  if (document.activeElement !== edge) return
  event.preventDefault()
  const other = event.shiftKey ? controls.at(-1) : controls[0]
  other?.focus()
}

/** A language of which the browser can write times. */
function supported(locale: string): string {
  try {
    return Intl.getCanonicalLocales(locale)[0] ?? 'en'
  } catch {
    return 'en'
  }
}
