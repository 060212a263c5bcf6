import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Failure } from '../api/ask.ts'
import type { Bot, BotHealth } from '../api/types.ts'
import { ChatDock } from '../chat/chat-dock.tsx'
import { Copy } from '../parts/copy.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Refusal, Skeleton } from '../parts/loaded.tsx'
import { Mended } from '../parts/mended.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { useAnswer, type Resource } from '../state/resource.ts'
import { to } from '../state/route.ts'
import { ConversationsTab } from '../conversations/conversations-tab.tsx'
import { CodeTab } from './code-tab.tsx'
import { ErrorsTab } from './errors-tab.tsx'
import { EventsTab } from './events-tab.tsx'
import { FilesTab } from '../files/files-tab.tsx'
import { FlowsTab } from '../flows/flows-tab.tsx'
import { healthOf } from './health.ts'
import { IntegrationsTab } from '../integrations/integrations-tab.tsx'
import { LogsTab } from './logs-tab.tsx'
import { ModelsTab } from './models-tab.tsx'
import { OverviewTab } from './overview-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { TablesTab } from '../tables/tables-tab.tsx'
import { chatIsOpen, type TabProps } from './tab.ts'
import { VersionsTab } from './versions-tab.tsx'
import { WebchatTab } from '../webchat/webchat-tab.tsx'

const tabs: Record<string, { label: string; Tab: (props: TabProps) => JSX.Element }> = {
  overview: { label: 'Overview', Tab: OverviewTab },
  conversations: { label: 'Conversations', Tab: ConversationsTab },
  events: { label: 'Events', Tab: EventsTab },
  logs: { label: 'Logs', Tab: LogsTab },
  errors: { label: 'Errors', Tab: ErrorsTab },
  code: { label: 'Code', Tab: CodeTab },
  flows: { label: 'Flows', Tab: FlowsTab },
  versions: { label: 'Versions', Tab: VersionsTab },
  files: { label: 'Files', Tab: FilesTab },
  tables: { label: 'Tables', Tab: TablesTab },
  webchat: { label: 'Web chat', Tab: WebchatTab },
  models: { label: 'Models', Tab: ModelsTab },
  integrations: { label: 'Integrations', Tab: IntegrationsTab },
  settings: { label: 'Settings', Tab: SettingsTab },
}

/** The page of one bot: its state at the top, its tabs below, and the chat beside them. */
export function BotPage({ id, segments }: { id: string; segments: string[] }): JSX.Element {
  const [name = 'overview', ...rest] = segments
  const bot = useAnswer<'getBot'>(`/bots/${id}`, { every: 15_000 })
  const found = bot.data?.bot
  const tab = tabs[name]
  useEffect(() => {
    document.title = `${found?.name ?? 'Bot'} · ${tab?.label ?? 'Not found'} · Isobot`
  }, [found?.name, tab?.label])

  if (bot.error instanceof Failure && bot.error.status === 404) {
    return (
      <Empty title="Bot not found in this workspace" isPage>
        <a class="button" href={to('bots')}>
          Go to the bots
        </a>
      </Empty>
    )
  }
  return (
    <div class={`bot-page ${chatIsOpen.value ? 'with-chat' : ''}`}>
      <div class="bot-main">
        <BotHeader id={id} bot={found} />
        <Tabs id={id} current={name} />
        {bot.error !== undefined && <Refusal error={bot.error} reload={bot.reload} isOfResource />}
        <div class="tab">
          {!tab ? (
            <Empty title="Page not found" />
          ) : found ? (
            <Mended key={name}>
              <tab.Tab bot={found} reloadBot={bot.reload} segments={rest} />
            </Mended>
          ) : (
            <Skeleton lines={6} />
          )}
        </div>
      </div>
      {found && chatIsOpen.value && <ChatDock key={found.id} bot={found} onClose={closeChat} />}
    </div>
  )
}

const chatButton = 'chat-button'

function closeChat(): void {
  chatIsOpen.value = false
  document.getElementById(chatButton)?.focus()
}

function BotHeader({ id, bot }: { id: string; bot: Bot | undefined }): JSX.Element {
  const health = useHealth(id)
  const { tone, word } = health.data ? healthOf(health.data.health) : { tone: 'quiet' as const, word: '…' }
  return (
    <header class="page-header bot-header">
      <div>
        <nav aria-label="Breadcrumb" class="breadcrumb">
          <a href={to('bots')}>Bots</a>
        </nav>
        <h1>
          <bdi>{bot?.name ?? '\u00a0'}</bdi>
          <Status tone={tone}>{word}</Status>
        </h1>
        <p class="facts">
          {bot?.version ? (
            <span>
              Version <code>{bot.version.hash.slice(0, 7)}</code>, uploaded <Time at={bot.deployedAt} />
            </span>
          ) : (
            <span>{bot ? 'No code is deployed' : '\u00a0'}</span>
          )}
          <Copy text={id} label="id" />
        </p>
      </div>
      <div class="actions">
        <button
          type="button"
          id={chatButton}
          class="button"
          aria-pressed={chatIsOpen.value}
          onClick={() => (chatIsOpen.value = !chatIsOpen.value)}
        >
          <Icon name="chat" />
          Chat
        </button>
      </div>
    </header>
  )
}

/** A bot's health over the last hour. */
export function useHealth(id: string): Resource<{ health: BotHealth }> {
  return useAnswer<'getBotHealth'>(`/bots/${id}/health`, { query: { window: '1h' }, every: 10_000 })
}

function Tabs({ id, current }: { id: string; current: string }): JSX.Element {
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    const link = nav.current?.querySelector('[aria-current]')
    link?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current])
  return (
    <nav class="tabs" aria-label="Parts of the bot" ref={nav}>
      {Object.entries(tabs).map(([name, { label }]) => (
        <a
          key={name}
          href={name === 'overview' ? to('bots', id) : to('bots', id, name)}
          aria-current={name === current ? 'page' : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  )
}
