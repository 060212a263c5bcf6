import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask, endSession, Failure } from './api/ask.ts'
import { Icon, type IconName } from './parts/icons.tsx'
import { forget } from './state/resource.ts'
import { segments, to } from './state/route.ts'
import {
  chooseWorkspace,
  firstSection,
  hasRole,
  isMembershipSettled,
  membership,
  session,
  signedOutBecause,
  signOut,
  workspaces,
} from './state/session.ts'
import { theme, themes } from './state/theme.ts'

const sections: { name: string; label: string; icon: IconName; role?: string }[] = [
  { name: 'bots', label: 'Bots', icon: 'bots', role: 'viewer' },
  { name: 'inbox', label: 'Inbox', icon: 'chat', role: 'agent' },
  { name: 'queue', label: 'Queue', icon: 'queue', role: 'viewer' },
  { name: 'models', label: 'Models', icon: 'models', role: 'viewer' },
  { name: 'hub', label: 'Hub', icon: 'book', role: 'viewer' },
  { name: 'members', label: 'Members', icon: 'members' },
  { name: 'tokens', label: 'Tokens', icon: 'key' },
  { name: 'audit', label: 'Audit log', icon: 'audit', role: 'administrator' },
]

/** The frame of every page: navigation, current location and account. */
export function Shell({ children }: { children: ComponentChildren }): JSX.Element {
  const [isOpen, setIsOpen] = useState(false)
  const [section = firstSection(), id, tab] = segments.value
  useEffect(loadAccount, [session.value])
  useEffect(() => setIsOpen(false), [section, id, tab])
  return (
    <div class={`shell ${isOpen ? 'open' : ''}`}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="sidebar">
        <div class="brand">
          <a href={to()}>
            <svg viewBox="0 0 32 32" aria-hidden="true">
              <rect width="32" height="32" rx="8" />
              <path d="M16 6.5 24.2 11v10L16 25.5 7.8 21V11z" />
              <circle cx="16" cy="16" r="3.2" />
            </svg>
            Isobot
          </a>
          <button
            type="button"
            class="button icon-only menu"
            aria-label="Menu"
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            <Icon name={isOpen ? 'close' : 'menu'} />
          </button>
        </div>
        <div class="sidebar-rest">
          <WorkspaceChoice />
          <nav aria-label="Sections">
            {sections
              .filter(({ role }) => isMembershipSettled.value && (role === undefined || hasRole(role)))
              .map(({ name, label, icon }) => (
                <a key={name} href={to(name)} aria-current={section === name ? 'page' : undefined}>
                  <Icon name={icon} />
                  {label}
                </a>
              ))}
          </nav>
          <div class="sidebar-end">
            <a href="/docs" target="_blank" rel="noreferrer">
              <Icon name="book" />
              API reference
            </a>
            <Account />
            <ThemeChoice />
          </div>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}

function WorkspaceChoice(): JSX.Element {
  const chosen = session.value?.workspaceId ?? ''
  const known = workspaces.value
  if (known.length < 2) return <div class="workspace">{known[0]?.name ?? '\u00a0'}</div>
  return (
    <select
      class="select workspace"
      aria-label="Workspace"
      value={chosen}
      onChange={({ currentTarget }) => {
        forget()
        chooseWorkspace(currentTarget.value)
      }}
    >
      {known.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}

function Account(): JSX.Element {
  const { displayName = '', role = '' } = membership.value ?? {}
  return (
    <div class="account">
      <div>
        <strong dir="auto">{displayName || '\u00a0'}</strong>
        <span>{role || '\u00a0'}</span>
      </div>
      <button type="button" class="button icon-only" aria-label="Sign out" title="Sign out" onClick={leave}>
        <Icon name="out" />
      </button>
    </div>
  )
}

function ThemeChoice(): JSX.Element {
  return (
    <div class="segmented theme" role="group" aria-label="Colours">
      {themes.map((one) => (
        <button
          key={one}
          type="button"
          aria-label={one}
          title={one}
          aria-pressed={theme.value === one}
          onClick={() => (theme.value = one)}
        >
          <Icon name={one === 'light' ? 'sun' : one === 'dark' ? 'moon' : 'system'} />
        </button>
      ))}
    </div>
  )
}

/** Signs out of this page, and of the browser's session. */
export function leave(): void {
  const hasCookie = session.value?.token === undefined
  forget()
  signOut()
  // Without an answer the cookie remains until its session ends, and the sign-in page says so.
  if (hasCookie)
    endSession().catch(() => (signedOutBecause.value = 'The server was not reached: your session goes on.'))
}

const retryMilliseconds = 3000

/**
 * Loads the account's names and membership, again while the server cannot be reached. Until then the names are missing;
 * the server still checks permissions.
 */
function loadAccount(): () => void {
  const abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const load = async () => {
    try {
      const [listed, own] = await Promise.all([
        ask<'listWorkspaces'>('GET', '/workspaces', { abort: abort.signal }),
        ask<'getWorkspaceMember'>('GET', '/workspace-members/me', { abort: abort.signal }),
      ])
      workspaces.value = listed.workspaces
      membership.value = own
    } catch (error) {
      const isUnreached = error instanceof Failure && error.status === 0
      if (isUnreached && !abort.signal.aborted) timer = setTimeout(() => void load(), retryMilliseconds)
    }
    if (!abort.signal.aborted) isMembershipSettled.value = true
  }
  void load()
  return () => {
    abort.abort()
    clearTimeout(timer)
  }
}
