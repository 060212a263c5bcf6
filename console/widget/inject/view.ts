import type { Appearance } from '../../../shared/models/webchat-appearance.ts'
import { colorsOf, radiusOf } from '../looks.ts'
import { languageOf, localeOf } from '../locale.ts'
import { bubbleTexts, type BubbleText } from '../texts/bubble.ts'
import { element, icon } from './elements.ts'
import { style } from './styles.ts'

const paths = {
  chat: 'M21 11.5a8.4 8.4 0 0 1-12 7.6L3 21l1.9-6A8.5 8.5 0 1 1 21 11.5Z',
  close: 'M6 6l12 12M18 6 6 18',
}

/** The parts of the chat in the page: the bubble, the panel with the frame, and the message that invites visitors. */
export interface View {
  /** Puts a chat without a bubble into another element, such as the successor of one that the page has removed. */
  moveTo(target: Element): void
  apply(appearance: Appearance): void
  /** Puts the frame into the panel, beside the button that closes it until the frame has one. */
  show(frame: HTMLIFrameElement): void
  /** The frame answers: it is shown, and has a button that closes it. */
  showsFrame(): void
  /** Shows, in place of the frame, that there is no chat, until a frame answers. */
  showAbsence(): void
  setOpen(isOpen: boolean): void
  setUnread(count: number): void
  /** Shows the message that invites visitors; a click on it opens the chat. */
  invite(message: string, onDismiss: () => void): void
  focusBubble(): void
}

/**
 * Puts the view into the page.
 *
 * @param target an element that gets the chat without a bubble; undefined for a bubble
 */
export function openView(target: Element | undefined, toggle: () => void): View {
  // Themes of shops hide empty elements, and what is in a shadow root does not count.
  const host = element('div', { 'data-isobot': '' }, element('span'))
  const root = host.attachShadow({ mode: 'open' })
  // A constructed style sheet needs no permission of the page's policy.
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(style)
  root.adoptedStyleSheets = [sheet]

  const panel = element('div', { id: 'panel', class: target ? 'embedded' : 'panel', hidden: '' })
  const badge = element('span', { class: 'badge', 'aria-hidden': 'true', hidden: '' })
  const face = element('span', {}, icon(paths.chat))
  const bubble = element('button', { class: 'bubble', type: 'button', 'aria-expanded': 'false' }, face, badge)
  bubble.addEventListener('click', toggle)
  let texts = bubbleTexts.en
  let image: string | undefined
  let unread = 0
  let isOpen = false
  let invitation: HTMLElement | undefined
  let absence: HTMLElement | undefined
  root.append(panel)
  if (target) host.style.cssText = 'display:block;width:100%;height:100%'
  else {
    // Rules of the page for its elements give it no size, and a body that is a grid or a flexible box no place.
    host.style.cssText = 'all:initial;position:fixed;z-index:2147483000'
    root.append(bubble)
  }
  ;(target ?? document.body).append(host)
  if (!target) stayInBody(host)

  function draw(): void {
    const label = isOpen ? texts.close : texts.open
    const count = unread > 0 && !isOpen ? `. ${texts.unread.replace('{count}', String(unread))}` : ''
    bubble.setAttribute('aria-label', label + count)
    bubble.setAttribute('aria-expanded', String(isOpen))
    badge.hidden = unread === 0 || isOpen
    badge.textContent = unread > 99 ? '99+' : String(unread)
    face.replaceChildren(
      isOpen || image === undefined
        ? icon(isOpen ? paths.close : paths.chat)
        : element('img', { src: image, alt: '', referrerpolicy: 'no-referrer' }),
    )
  }

  function uninvite(): void {
    invitation?.remove()
    invitation = undefined
  }

  return {
    moveTo(next) {
      if (target && host.parentNode !== next) next.append(host)
    },
    apply(appearance) {
      const { accent, onAccent } = colorsOf(appearance.color)
      host.style.setProperty('--accent', accent)
      host.style.setProperty('--on-accent', onAccent)
      host.style.setProperty('--radius', String(radiusOf(appearance.radius)))
      const own: Partial<Record<BubbleText, string>> = appearance.texts ?? {}
      texts = { ...bubbleTexts[languageOf(localeOf(appearance.locale, appearance.texts))], ...own }
      image = appearance.fabImage
      for (const frame of panel.querySelectorAll('iframe')) frame.title = appearance.botName ?? texts.title
      draw()
    },
    show: (frame) => panel.append(frame),
    showsFrame() {
      panel.classList.add('answered')
      absence?.remove()
    },
    showAbsence() {
      absence ??= element('p', { role: 'status' }, texts.unavailable)
      panel.replaceChildren(absence)
    },
    setOpen(next) {
      isOpen = next
      panel.hidden = !next
      uninvite()
      draw()
    },
    setUnread(count) {
      unread = count
      draw()
    },
    invite(message, onDismiss) {
      if (isOpen || invitation || target) return
      const accept = element('button', { type: 'button' }, message)
      const dismiss = element('button', { type: 'button', 'aria-label': texts.dismiss }, '✕')
      invitation = element('div', { class: 'invitation', role: 'status' }, accept, dismiss)
      accept.addEventListener('click', toggle)
      dismiss.addEventListener('click', () => {
        uninvite()
        onDismiss()
      })
      root.insertBefore(invitation, bubble)
    },
    focusBubble: () => bubble.focus(),
  }
}

/**
 * Keeps an element in the body of the page: sites that change pages without loading them replace the whole body. An element
 * that the site has removed alone is not added again.
 */
function stayInBody(host: HTMLElement): void {
  const follow = () => {
    if (!host.isConnected && host.parentNode) document.body?.append(host)
    // The site may replace the root element too.
    for (const node of [document, document.documentElement]) changes.observe(node, { childList: true })
  }
  const changes = new MutationObserver(follow)
  follow()
}
