import type { Appearance } from '../../../shared/models/webchat-appearance.ts'
import type { GivenUser, Method, ToPage } from '../protocol.ts'
import { openEvents, type Events } from './events.ts'
import { scheduleInvitation } from './invitation.ts'
import { InterruptedError, openLink, type Link } from './link.ts'
import { recall, remember } from './memory.ts'
import { openView, type View } from './view.ts'

/** The argument of `init`. Other fields are ignored, such as those of the hosted script. */
export interface Options {
  /** Fields that replace those of the installation's configuration. */
  configuration?: Appearance
  user?: GivenUser
  conversationId?: string
  /** Shown as `botpress.botId`, as by the hosted script. */
  botId?: string
  /** A selector of an element that gets the chat, without a bubble. Given again, it moves the chat to the present one. */
  selector?: string
  defaultState?: 'opened' | 'closed'
  /** Answers a new key of the visitor, signed by the site, when the former one has expired. */
  getUserKey?: () => Promise<string> | string
}

/** `window.botpress`. */
export interface Widget extends Pick<Events, 'on' | 'off'> {
  readonly version: string
  readonly clientId: string
  readonly botId: string | undefined
  readonly initialized: boolean
  readonly state: 'initial' | 'opened' | 'closed'
  readonly configuration: Appearance
  readonly user: GivenUser | undefined
  init(options?: Options): void
  open(): void
  close(): void
  toggle(): void
  config(change: { configuration?: Appearance; user?: GivenUser }): void
  sendMessage(text: string): Promise<unknown>
  sendEvent(data: object): Promise<unknown>
  updateUser(user: GivenUser): Promise<unknown>
  getUser(): Promise<unknown>
  restartConversation(): Promise<unknown>
  /** Shows another number at the bubble, until the next change of the messages. */
  setUnreadMessageCount(count: number): void
}

const version = '1'

/** The webhook id of the web chat at an address. */
export function clientIdOf(base: URL): string {
  return decodeURIComponent(base.pathname.split('/').at(-2)!)
}

/**
 * Creates the widget of a page. Nothing of it is shown, and nothing requested, before `init`.
 *
 * @param base address of the web chat, with a slash at its end
 */
export function createWidget(base: URL, given: Appearance): Widget {
  const clientId = clientIdOf(base)
  const { on, off, emit } = openEvents()
  let appearance = given
  let options: Options = {}
  let user: GivenUser | undefined
  /** The newest key of the site, for a frame that is loaded anew. */
  let userKey: string | undefined
  let view: View | undefined
  let link: Link | undefined
  let state: Widget['state'] = 'initial'
  /** Whether an element of the page has the chat, without a bubble. */
  let isEmbedded = false
  let isReady = false
  let isMissing = false

  function shown(): View {
    if (!view) init()
    return view!
  }

  /** Loads the frame, at the first use of the chat. */
  function linked(): Link {
    const visible = shown()
    const show = (frame: HTMLIFrameElement) => {
      visible.show(frame)
      visible.apply(appearance)
    }
    link ??= openLink(new URL('frame', base), hello, receive, show, missed)
    return link
  }

  function hello() {
    return {
      mode: isEmbedded ? ('embedded' as const) : ('bubble' as const),
      isOpen: state === 'opened',
      appearance,
      user: { ...user, ...(userKey !== undefined && { userKey }) },
      ...(options.conversationId !== undefined && { conversationId: options.conversationId }),
      renewsKeys: options.getUserKey !== undefined,
    }
  }

  /** Shows that no frame answers, and reports it once. */
  function missed(): void {
    shown().showAbsence()
    if (isMissing) return
    isMissing = true
    const message =
      `The web chat at ${base.href} does not answer in this page. The configuration of the web chat may not have ` +
      `${location.origin} among its allowedOrigins, or this page's policy may not have ${base.origin} in frame-src.`
    emit('error', { message })
    reportError(new Error(message))
  }

  function setState(next: 'opened' | 'closed'): void {
    if (state === next) return
    if (next === 'opened') linked()
    const hadFocus = state === 'opened' && document.activeElement?.shadowRoot?.activeElement === link?.frame
    state = next
    shown().setOpen(next === 'opened')
    link?.send({ type: 'visibility', isOpen: next === 'opened' })
    if (next === 'opened' && !isEmbedded) {
      remember('localStorage', clientId, 'opened')
      link?.frame.focus()
    } else if (hadFocus) shown().focusBubble()
    emit(`webchat:${next}`)
  }

  function receive(message: ToPage): void {
    if (message.type === 'ready') {
      shown().showsFrame()
      if (isReady) return
      isReady = true
      emit('webchat:ready')
    } else if (message.type === 'unread') shown().setUnread(message.count)
    else if (message.type === 'event') {
      if (message.name === 'user') user = message.data as GivenUser
      emit(message.name, message.data)
    } else if (message.type === 'keyNeeded') void renewKey()
    else if (message.type === 'visibility') {
      if (message.visibility === 'toggle') toggle()
      else setState(message.visibility === 'show' ? 'opened' : 'closed')
    }
  }

  async function renewKey(): Promise<void> {
    let renewed: string | undefined
    try {
      renewed = await options.getUserKey?.()
    } catch (error) {
      reportError(error)
    }
    userKey = renewed ?? userKey
    link?.send({ type: 'key', userKey: renewed })
  }

  /** Notes what the page says of its visitor. With the key of another one, nothing is kept of the former. */
  function take(given: GivenUser | undefined): void {
    const isAnother = userKey !== undefined && given?.userKey !== undefined && given.userKey !== userKey
    user = isAnother ? given : { ...user, ...given }
    userKey = given?.userKey ?? userKey
  }

  function updateUser(changed: GivenUser): Promise<unknown> {
    take(changed)
    return linked().call('updateUser', changed)
  }

  /** Tells the frame of the visitor. One that is loaded anew has this from its greeting. */
  function describe(changed: GivenUser): void {
    updateUser(changed).catch((error: unknown) => {
      if (!(error instanceof InterruptedError)) emit('error', { message: String(error) })
    })
  }

  function toggle(): void {
    setState(state === 'opened' ? 'closed' : 'opened')
  }

  function configure(change: Appearance | undefined): void {
    appearance = { ...appearance, ...change }
    view?.apply(appearance)
    link?.send({ type: 'configure', appearance })
    emit('webchat:config', appearance)
  }

  function init(next: Options = {}): void {
    options = { ...options, ...next }
    take(next.user)
    const target = options.selector === undefined ? undefined : document.querySelector(options.selector)
    // Later calls may concern a page of the site that does not show the chat.
    const isNeeded = !view || next.selector !== undefined
    if (target === null && isNeeded) throw new Error(`botpress.init: no element has the selector ${options.selector}`)
    if (view) {
      if (target) view.moveTo(target)
      configure(next.configuration)
      if (next.user) describe(next.user)
      return
    }
    appearance = { ...appearance, ...next.configuration }
    isEmbedded = target !== undefined
    view = openView(target ?? undefined, toggle)
    view.apply(appearance)
    emit('webchat:initialized')
    if (target || options.defaultState === 'opened') return setState('opened')
    // A visitor who has opened the chat before sees how many messages have come since.
    if (recall('localStorage', clientId, 'opened')) linked()
    if (recall('sessionStorage', clientId, 'dismissed')) return
    scheduleInvitation(appearance, (message) => {
      if (state === 'initial') shown().invite(message, () => remember('sessionStorage', clientId, 'dismissed'))
    })
  }

  const call = (method: Method) => (argument?: unknown) => linked().call(method, argument)

  return {
    version,
    clientId,
    get botId() {
      return options.botId
    },
    get initialized() {
      return view !== undefined
    },
    get state() {
      return state
    },
    get configuration() {
      return appearance
    },
    get user() {
      return user
    },
    on,
    off,
    init,
    open: () => setState('opened'),
    close: () => setState('closed'),
    toggle,
    config({ configuration, user: changed }) {
      configure(configuration)
      if (changed) describe(changed)
    },
    sendMessage: call('sendMessage'),
    sendEvent: call('sendEvent'),
    updateUser,
    getUser: call('getUser'),
    restartConversation: call('restartConversation'),
    setUnreadMessageCount: (count) => shown().setUnread(Math.max(0, Math.floor(count) || 0)),
  }
}
