import type { JSX } from 'preact'
import { scriptTagOf } from '../../../shared/chat-client/script-tag.ts'
import type { WebchatConfiguration } from '../../../shared/models/webchat-configuration.ts'
import { ask } from '../api/ask.ts'
import { Copy } from '../parts/copy.tsx'
import { Empty } from '../parts/loaded.tsx'
import { attempt } from '../state/notices.ts'
import { mayChange } from '../state/session.ts'
import type { TabProps } from '../bot/tab.ts'
import { AppearanceForm } from './appearance-form.tsx'
import { useDraft, withoutEmpty } from './draft.ts'
import { Preview } from './preview.tsx'

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
    <fieldset class="settings webchat" disabled={!mayChange.value}>
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
      <Configuration
        botId={bot.id}
        frame={`${new URL(webhookUrl).pathname}/frame`}
        configuration={configuration}
        save={save}
      />
    </fieldset>
  )
}

interface ConfigurationProps {
  botId: string
  frame: string
  configuration: WebchatConfiguration
  save: (configuration: WebchatConfiguration, done: string) => Promise<void>
}

function Configuration({ botId, frame, configuration, save }: ConfigurationProps): JSX.Element {
  const draft = useDraft(botId, configuration)
  return (
    <>
      <Preview address={frame} draft={withoutEmpty(draft.values)} />
      <AppearanceForm draft={draft} save={() => void save(draft.configuration(), 'Pages show it within a minute.')} />
    </>
  )
}
