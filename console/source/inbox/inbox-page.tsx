import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../parts/icons.tsx'
import { Empty } from '../parts/loaded.tsx'
import { navigate, query, to } from '../state/route.ts'
import { hasSingleKeysOff } from '../state/single-keys.ts'
import { CannedRepliesPage } from './canned-replies-page.tsx'
import { useInboxLines } from './follow.ts'
import { InboxConversation } from './inbox-conversation.tsx'
import { NotificationsDialog } from './notifications-dialog.tsx'
import { ColleaguesDialog, PresenceSwitch } from './presence.tsx'
import { QueueList } from './queue-list.tsx'
import { queues, useQueue, type Page } from './queues.ts'
import { ShortcutsDialog, shortcutOf } from './shortcuts.tsx'
import { useTypingUsers } from './typing.ts'
import { useNews } from './use-news.ts'

/** The handovers of all bots, and one of their conversations beside them. */
export function InboxPage({ segments }: { segments: string[] }): JSX.Element {
  return segments[0] === 'canned-replies' ? <CannedRepliesPage /> : <Inbox segments={segments} />
}

function Inbox({ segments: [botId, openId] }: { segments: string[] }): JSX.Element {
  useInboxLines()
  useTypingUsers()
  const queue = queues.find(({ name }) => name === query.value.get('queue')) ?? queues[0]
  const text = query.value.get('text') ?? ''
  const waiting = useQueue('waiting', '', true)
  const mine = useQueue('mine', '', true)
  const isOther = text !== '' || (queue.name !== 'waiting' && queue.name !== 'mine')
  const other = useQueue(isOther ? queue.name : undefined, text)
  const found = isOther ? other : queue.name === 'mine' ? mine : waiting
  const [dialog, setDialog] = useState<'shortcuts' | 'notifications' | 'colleagues'>()
  /** The key of an action on a conversation that is not open yet. */
  const [pendingKey, setPendingKey] = useState<string>()
  const page = useRef<HTMLDivElement>(null)
  useFocusOfList(page.current, openId)
  useNews(waiting.first, mine.first, openId)

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const shortcut = shortcutOf(event)
      if (shortcut === undefined || !(event.target instanceof Element)) return
      if (shortcut === '?') return setDialog('shortcuts')
      const row = event.target.closest<HTMLAnchorElement>('a[data-row]')
      if (row) {
        setPendingKey(shortcut)
        navigate(row.pathname + row.search)
      } else {
        const isForOpen = event.target === document.body || event.target.closest('.inbox-open') !== null
        if (openId === undefined || !isForOpen) return
        setPendingKey(shortcut)
      }
      event.preventDefault()
    }
    // Keys without a focus go to the body, which is not within the page.
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [openId])
  return (
    <div class={`inbox ${openId === undefined ? '' : 'with-conversation'}`} ref={page}>
      <header class="inbox-header">
        <h1>Inbox</h1>
        <p class="visually-hidden" role="status">
          {waiting.first && `${countOf(waiting.first)} of the conversations wait for a person.`}
        </p>
        <div class="actions">
          <PresenceSwitch />
          <button
            type="button"
            class="button icon-only"
            aria-label="Colleagues"
            title="Colleagues"
            onClick={() => setDialog('colleagues')}
          >
            <Icon name="members" />
          </button>
          <a
            class="button icon-only"
            href={to('inbox', 'canned-replies')}
            aria-label="Canned replies"
            title="Canned replies"
          >
            <Icon name="slash" />
          </a>
          <button
            type="button"
            class="button icon-only"
            aria-label="Notifications"
            title="Notifications"
            onClick={() => setDialog('notifications')}
          >
            <Icon name="bell" />
          </button>
          <button
            type="button"
            class="button icon-only"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts"
            onClick={() => setDialog('shortcuts')}
          >
            <Icon name="keyboard" />
          </button>
        </div>
      </header>
      <QueueList
        key={queue.name}
        queue={queue}
        text={text}
        found={found}
        counts={{ waiting: countOf(waiting.first), mine: countOf(mine.first) }}
        openId={openId}
      />
      <div class="inbox-open">
        {botId !== undefined && openId !== undefined ? (
          <InboxConversation
            key={openId}
            botId={botId}
            id={openId}
            back={to('inbox') + location.search}
            pendingKey={pendingKey}
            onKeyDone={() => setPendingKey(undefined)}
          />
        ) : (
          <Empty icon="chat" title="No conversation is open">
            <p>Choose one from the list.{!hasSingleKeysOff.value && ' The key ? shows the shortcuts.'}</p>
          </Empty>
        )}
      </div>
      {dialog === 'shortcuts' && <ShortcutsDialog onClose={() => setDialog(undefined)} />}
      {dialog === 'colleagues' && <ColleaguesDialog onClose={() => setDialog(undefined)} />}
      {dialog === 'notifications' && <NotificationsDialog onClose={() => setDialog(undefined)} />}
    </div>
  )
}

/** Empty for none; a plus sign where there are more. */
function countOf(page: Page | undefined): string {
  const count = page?.handovers.length ?? 0
  if (count === 0) return ''
  return page?.meta.nextToken === undefined ? String(count) : `${count}+`
}

/** When a conversation is closed, its row gets the focus, or another one where it has left the queue. */
function useFocusOfList(page: HTMLElement | null, openId: string | undefined): void {
  const former = useRef(openId)
  useEffect(() => {
    if (openId === undefined && former.current !== undefined) {
      const rows = [...(page?.querySelectorAll<HTMLAnchorElement>('a[data-row]') ?? [])]
      const row = rows.find(({ pathname }) => pathname.endsWith(`/${former.current}`)) ?? rows[0]
      const next = row ?? page?.querySelector<HTMLElement>('.inbox-filters [aria-pressed="true"]')
      next?.focus()
    }
    former.current = openId
  }, [openId])
}
