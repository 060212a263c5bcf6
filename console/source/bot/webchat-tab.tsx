import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { scriptTagOf } from '../../../shared/chat-client/script-tag.ts'
import type { WebchatConfiguration } from '../../../shared/models/webchat-configuration.ts'
import { ask } from '../api/ask.ts'
import { Segmented } from '../parts/choice.tsx'
import { Copy } from '../parts/copy.tsx'
import { Empty } from '../parts/loaded.tsx'
import { attempt } from '../state/notices.ts'
import { mayChange } from '../state/session.ts'
import type { TabProps } from './tab.ts'

/** The id under which the platform's own web chat is installed; `docs/web-chat.md` names it. */
const integrationId = 'intver_01J0000000000000WEBCHAT030'

/** The bot's web chat: the tag for pages, and how it looks. */
export function WebchatTab({ bot, reloadBot }: TabProps): JSX.Element {
  const webchat = bot.integrations['webchat']
  const save = async (configuration: WebchatConfiguration, done: string) => {
    const settings = { integrationId, enabled: true, configuration }
    const body = { integrations: { webchat: settings } }
    if (await attempt(() => ask('PUT', `/bots/${bot.id}`, { body }), done)) reloadBot()
  }
  if (!webchat?.enabled || webchat.id !== integrationId) {
    return (
      <Empty title="No web chat">
        <p>The web chat puts the bot on web pages, with one line of HTML.</p>
        {mayChange.value && (
          <button
            type="button"
            class="button"
            onClick={() => void save(webchat?.configuration ?? { botName: bot.name }, 'The web chat is installed.')}
          >
            Install
          </button>
        )}
      </Empty>
    )
  }
  const { webhookUrl, configuration } = webchat
  return (
    <fieldset class="settings" disabled={!mayChange.value}>
      <section class="panel" aria-label="On a page">
        <header>
          <h2>On a page</h2>
        </header>
        <p class="quiet">Paste this line into the page:</p>
        <Copy text={scriptTagOf(webhookUrl)} label="tag" />
        <p>
          <a href={`${webhookUrl}/chat`} target="_blank" rel="noreferrer noopener">
            Open the chat as a page
          </a>
        </p>
      </section>
      <AppearanceForm key={webchat.updatedAt} configuration={configuration} save={save} />
    </fieldset>
  )
}

interface AppearanceProps {
  configuration: WebchatConfiguration
  save: (configuration: WebchatConfiguration, done: string) => Promise<void>
}

type TextField = 'botName' | 'botDescription' | 'greeting' | 'composerPlaceholder' | 'locale'

const textFields: [TextField, string, string][] = [
  ['botName', 'Name', 'Ada'],
  ['botDescription', 'Line below the name', 'Answers within seconds'],
  ['greeting', 'Greeting', 'Hello! How can I help?'],
  ['composerPlaceholder', 'Text in the empty field', 'Write a message …'],
  ['locale', 'Language (default: the visitor’s)', 'en'],
]

const themes: { value: 'auto' | 'light' | 'dark'; label: string }[] = [
  { value: 'auto', label: 'as the device' },
  { value: 'light', label: 'light' },
  { value: 'dark', label: 'dark' },
]

const usualColor = '#2563eb'

/** The fields that most sites set; all others of the configuration stay as they are. */
function AppearanceForm({ configuration, save }: AppearanceProps): JSX.Element {
  const [draft, setDraft] = useState(configuration)
  const [origins, setOrigins] = useState((configuration.allowedOrigins ?? []).join('\n'))
  /** An empty list closes the chat to pages; without a list it is open to all of them. */
  const isClosed = configuration.allowedOrigins?.length === 0
  const set = (change: WebchatConfiguration) => setDraft({ ...draft, ...change })
  const submit = (event: Event) => {
    event.preventDefault()
    const { allowedOrigins: _former, ...others } = draft
    const allowedOrigins = origins.split(/[\s,]+/).filter(Boolean)
    // An empty field is one that the site leaves to the platform.
    const given = Object.entries(others).filter(([, value]) => value !== '')
    const next = { ...Object.fromEntries(given), ...((isClosed || allowedOrigins.length > 0) && { allowedOrigins }) }
    void save(next, 'Pages show it within a minute.')
  }
  return (
    <form class="panel" onSubmit={submit}>
      <header>
        <h2>Appearance and origins</h2>
      </header>
      {textFields.map(([name, label, placeholder]) => (
        <label key={name} class="field">
          {label}
          <input
            placeholder={placeholder}
            value={draft[name] ?? ''}
            onInput={({ currentTarget }) => set({ [name]: currentTarget.value })}
          />
        </label>
      ))}
      <label class="field">
        Colour
        <input
          type="color"
          value={draft.color ?? usualColor}
          onInput={({ currentTarget }) => set({ color: currentTarget.value })}
        />
      </label>
      <Segmented
        label="Light or dark"
        options={themes}
        value={draft.themeMode ?? 'auto'}
        onChange={(themeMode) => set({ themeMode })}
      />
      <label class="field">
        Origins of pages that may show it
        <textarea
          rows={Math.max(2, origins.split('\n').length)}
          placeholder="https://www.example.com"
          spellcheck={false}
          value={origins}
          onInput={({ currentTarget }) => setOrigins(currentTarget.value)}
        />
      </label>
      <p class="quiet">
        One per line. Without entries, {isClosed ? 'no page of a site' : 'pages of all origins'} may show it.
      </p>
      <button type="submit" class="button">
        Save
      </button>
    </form>
  )
}
