import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { Bot, Installation } from '../api/types.ts'
import { Confirm } from '../parts/dialog.tsx'
import { attempt, notify } from '../state/notices.ts'
import { to } from '../state/route.ts'
import { HostsDialog } from './hosts-dialog.tsx'
import { SettingsDialog } from './settings-form.tsx'

interface ActionsProps {
  bot: Bot
  installation: Installation
  onChanged: () => void
}

type Opened = 'settings' | 'hosts' | 'removal'

/** The changes of an installation: its version and configuration, hosts, whether it is on, and its removal. */
export function Actions({ bot, installation, onChanged }: ActionsProps): JSX.Element {
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  const { alias, enabled, integrationId } = installation
  const installed = bot.integrations[alias]
  const change = (settings: { enabled: boolean } | null) => {
    const body = { integrations: { [alias]: settings } }
    return ask('PUT', `/bots/${bot.id}`, { body })
  }
  const toggle = async () => {
    const done = enabled ? `${alias} is switched off.` : `${alias} is switched on.`
    if (await attempt(() => change({ enabled: !enabled }), done)) onChanged()
  }
  const remove = async () => {
    await change(null)
    notify('good', `${alias} is removed.`)
    onChanged()
  }
  const button = (label: string, onClick: () => void) => (
    <button type="button" class="button small" aria-label={`${label} ${alias}`} onClick={onClick}>
      {label}
    </button>
  )
  // The chat is part of every bot; the web chat has a tab of its own, and nothing of the inbox is configured.
  if (alias === 'chat') return <></>
  return (
    <div class="toolbar">
      {integrationId && installed && button('Configure', () => setOpened('settings'))}
      {integrationId && button('Hosts', () => setOpened('hosts'))}
      {installation.name === 'webchat' && !integrationId && (
        <a class="button small" href={to('bots', bot.id, 'webchat')}>
          Appearance
        </a>
      )}
      {button(enabled ? 'Switch off' : 'Switch on', () => void toggle())}
      {button('Remove', () => setOpened('removal'))}
      {opened === 'settings' && installed && (
        <SettingsDialog
          bot={bot}
          integration={{ id: installed.id, name: installation.name }}
          alias={alias}
          installed={installed}
          onSaved={onChanged}
          onClose={close}
        />
      )}
      {opened === 'hosts' && (
        <HostsDialog integration={{ id: integrationId!, name: installation.name }} onClose={close} />
      )}
      {opened === 'removal' && (
        <Confirm title={`Remove ${alias}`} action="Remove" isDangerous onSubmit={remove} onClose={close}>
          <p>Deletes the installation with its users and conversations permanently. Its webhook address ends.</p>
        </Confirm>
      )}
    </div>
  )
}
