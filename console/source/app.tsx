import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { BotPage } from './bot/bot-page.tsx'
import { ErasingUser } from './conversations/erase-dialog.tsx'
import { InboxPage } from './inbox/inbox-page.tsx'
import { AuditPage } from './pages/audit-page.tsx'
import { BotsPage } from './pages/bots-page.tsx'
import { HubPage } from './pages/hub-page.tsx'
import { InvitationPage } from './pages/invitation-page.tsx'
import { MembersPage } from './pages/members-page.tsx'
import { ModelsPage } from './pages/models-page.tsx'
import { QueuePage } from './pages/queue-page.tsx'
import { SignInAgain } from './pages/sign-in-again.tsx'
import { SignInPage } from './pages/sign-in-page.tsx'
import { TokensPage } from './pages/tokens-page.tsx'
import { Empty, Skeleton } from './parts/loaded.tsx'
import { Mended } from './parts/mended.tsx'
import { Notices } from './parts/notices.tsx'
import { Shell } from './shell.tsx'
import { segments, to } from './state/route.ts'
import { firstSection, interruptedBecause, isMembershipSettled, session } from './state/session.ts'

export function App(): JSX.Element {
  return (
    <>
      {segments.value[0] === 'invitation' ? (
        <InvitationPage />
      ) : session.value ? (
        <Shell key={session.value.workspaceId}>
          <Mended key={pageKey()}>
            <CurrentPage />
          </Mended>
          <ErasingUser />
          {interruptedBecause.value && <SignInAgain />}
        </Shell>
      ) : (
        <SignInPage />
      )}
      <Notices />
    </>
  )
}

/** Pages with different keys share no state. The inbox is one page: its list stays while conversations open beside it. */
function pageKey(): string {
  const [section = firstSection(), id = ''] = segments.value
  return section === 'inbox' ? section : `${section}/${id}`
}

function CurrentPage(): JSX.Element {
  if (segments.value.length === 0 && !isMembershipSettled.value) return <Opening />
  const [section = firstSection(), id, ...rest] = segments.value
  if (section === 'bots') return id === undefined ? <BotsPage /> : <BotPage key={id} id={id} segments={rest} />
  if (section === 'inbox') return <InboxPage segments={id === undefined ? [] : [id, ...rest]} />
  if (section === 'hub') return <HubPage kind={id} />
  if (section === 'queue') return <QueuePage />
  if (section === 'models') return <ModelsPage />
  if (section === 'members') return <MembersPage />
  if (section === 'tokens') return <TokensPage />
  if (section === 'audit') return <AuditPage />
  return <NotFound />
}

/** Until the role is known, which determines the first page. */
function Opening(): JSX.Element {
  return (
    <div class="page">
      <Skeleton lines={6} />
    </div>
  )
}

function NotFound(): JSX.Element {
  useEffect(() => {
    document.title = 'Not found · Isobot'
  }, [])
  return (
    <Empty title="Page not found" isPage>
      <a class="button" href={to()}>
        Go to the first page
      </a>
    </Empty>
  )
}
