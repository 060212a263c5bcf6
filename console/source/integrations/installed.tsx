import type { JSX } from 'preact'
import { ask } from '../api/ask.ts'
import type { Bot, Installation } from '../api/types.ts'
import { formatMilliseconds, plural } from '../format.ts'
import { Copy } from '../parts/copy.tsx'
import { Outcome, Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { attempt } from '../state/notices.ts'
import { to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import { Actions } from './actions.tsx'

interface InstalledProps {
  bot: Bot
  installation: Installation
  onChanged: () => void
}

/** Opens the pages on which a person connects the integration with an account at its service. */
async function authorize(botId: string, installationId: string): Promise<void> {
  // Browsers block windows that open after a request.
  const opened = window.open('', '_blank')
  const path = `/bots/${botId}/installations/${installationId}/authorize`
  const isAsked = await attempt(async () => {
    const { url } = await ask<'authorizeInstallation'>('POST', path, { body: {} })
    if (!opened) throw new Error('The browser opened no window: allow windows of this page')
    opened.opener = null
    opened.location.href = url
  }, 'Continue in the window that has opened.')
  if (!isAsked) opened?.close()
}

/** An installation: its address, its state, and the outcomes of its registrations. */
export function Installed({ bot, installation, onChanged }: InstalledProps): JSX.Element {
  const { id: botId } = bot
  const url = bot.integrations[installation.alias]?.webhookUrl
  const isChat = installation.integrationId === undefined
  const reason = installation.disabledReason ?? installation.statusReason
  return (
    <article class="panel installation">
      <header>
        <h2>{installation.alias}</h2>
        <span class="quiet">
          {isChat
            ? installation.alias === 'chat'
              ? 'part of every bot'
              : 'part of the platform'
            : `${installation.name} ${installation.version}`}
        </span>
        <span class="spacer" />
        {installation.canAuthorize && installation.enabled && mayChange.value && (
          <button type="button" class="button small" onClick={() => void authorize(botId, installation.id)}>
            Authorize
          </button>
        )}
        {!installation.enabled ? <Status tone="quiet">switched off</Status> : <Outcome of={installation.status} />}
      </header>
      {url && <Copy text={url} label={isChat ? 'address for chat clients' : 'webhook address'} />}
      {mayChange.value && <Actions bot={bot} installation={installation} onChanged={onChanged} />}
      {reason && <p class="error-message">{reason}</p>}
      {!isChat && (
        <dl class="facts-grid">
          <div>
            <dt>Registers</dt>
            <dd>{installation.schedule ?? 'when it is installed'}</dd>
          </div>
          {installation.nextRegisterAt && (
            <div>
              <dt>Next</dt>
              <dd>
                <Time at={installation.nextRegisterAt} />
              </dd>
            </div>
          )}
          {installation.identifier && (
            <div>
              <dt>Identifier</dt>
              <dd>{installation.identifier}</dd>
            </div>
          )}
          {installation.registerFailures > 0 && (
            <div>
              <dt>In a row</dt>
              <dd class="bad">{plural(installation.registerFailures, 'failure')}</dd>
            </div>
          )}
        </dl>
      )}
      {installation.registrations.length > 0 && (
        <ol class="plain registrations" aria-label="Registrations, newest first">
          {installation.registrations.map((one) => (
            <li key={one.eventId}>
              <Outcome of={one.status} />
              <a href={to('bots', botId, 'events', one.eventId)}>{one.type}</a>
              <span class="reason">{one.failureReason}</span>
              <span class="number quiet">{formatMilliseconds(one.milliseconds)}</span>
              <span class="number quiet">
                <Time at={one.createdAt} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </article>
  )
}
