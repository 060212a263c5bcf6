import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask, explain, Failure, ownToken } from '../api/ask.ts'
import type { Accepted, Account, Invitation } from '../api/types.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { ProviderButtons } from '../parts/provider-buttons.tsx'
import { Copy } from '../parts/copy.tsx'
import { forget } from '../state/resource.ts'
import { navigate, to } from '../state/route.ts'
import { session, signIn, staysSignedIn } from '../state/session.ts'

/** The page to accept an invitation, as the signed-in account, another account or a new one. */
export function InvitationPage(): JSX.Element {
  // Browsers do not send the part after the # to the server.
  const [secret, setSecret] = useState(() => location.hash.slice(1))
  const [invitation, setInvitation] = useState<Invitation>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    document.title = 'Invitation · Isobot'
  }, [])
  useEffect(() => {
    if (secret === '') return
    ask<'getInvitation'>('GET', '/account/invitation', { as: { invitation: secret } }).then(setInvitation, (error) => {
      setProblem(explainInvitation(error))
      setSecret('')
    })
  }, [secret])

  if (invitation) return <Accept secret={secret} invitation={invitation} />
  return (
    <Frame
      title="Accept an invitation"
      problem={problem}
      action="Continue"
      onSubmit={async (given) => {
        setProblem('')
        setSecret(textOf(given, 'invitation'))
      }}
    >
      <label>
        Invitation
        <input type="password" name="invitation" autocomplete="off" required autoFocus />
      </label>
    </Frame>
  )
}

function Accept({ secret, invitation }: { secret: string; invitation: Invitation }): JSX.Element {
  const [present, setPresent] = useState<Account>()
  const [isNew, setIsNew] = useState(false)
  const [accepted, setAccepted] = useState<Accepted>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    if (!session.value) return
    ask<'getAccount'>('GET', '/account/me').then(
      ({ account }) => setPresent(account),
      () => undefined,
    )
  }, [])
  const isPresent = present !== undefined && !isNew

  const accept = async (given: FormData) => {
    const displayName = textOf(given, 'name')
    const other = textOf(given, 'token')
    try {
      const token = isPresent ? await ownToken() : other
      const as = { invitation: secret, ...(token && { token }) }
      const body = displayName && !token ? { displayName } : {}
      const joined = await ask<'acceptInvitation'>('POST', '/account/invitation', { as, body })
      if (joined.token !== undefined) setAccepted(joined)
      else enter(isPresent ? session.value?.token : other, joined.workspaceId)
    } catch (error) {
      setProblem(explainInvitation(error))
    }
  }

  if (accepted?.token !== undefined) {
    const { token, workspaceId } = accepted
    return (
      <Frame title="Keep your token" action="Go on" onSubmit={async () => enter(token, workspaceId)}>
        <p>Sign in with this personal token, here and on the command line. It is shown only once.</p>
        <Copy text={token} label="token" />
      </Frame>
    )
  }
  return (
    <Frame
      title={`Join ${invitation.workspaceName}`}
      problem={problem}
      action={isPresent ? `Join as ${present.displayName}` : 'Join'}
      onSubmit={accept}
    >
      <p>
        {invitation.email} is invited to this workspace as {invitation.role}.
      </p>
      {isPresent ? (
        <button type="button" class="button" onClick={() => setIsNew(true)}>
          Join with another account
        </button>
      ) : (
        <>
          <label>
            Your name
            <input name="name" maxLength={200} autocomplete="name" autoFocus />
          </label>
          <label>
            Personal token, if you already have an account
            <input type="password" name="token" autocomplete="current-password" />
          </label>
          <ProviderButtons invitation={secret} label="Join with" onProblem={setProblem} />
        </>
      )}
    </Frame>
  )
}

function textOf(given: FormData, field: string): string {
  const value = given.get(field)
  return typeof value === 'string' ? value.trim() : ''
}

interface FrameProps {
  title: string
  problem?: string
  action: string
  onSubmit: (given: FormData) => Promise<void>
  children: ComponentChildren
}

function Frame({ title, problem = '', action, onSubmit, children }: FrameProps): JSX.Element {
  const [isBusy, setIsBusy] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setIsBusy(true)
    await onSubmit(new FormData(event.currentTarget as HTMLFormElement))
    setIsBusy(false)
  }
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <h1>{title}</h1>
        {children}
        <p class="problem" role="alert">
          {problem}
        </p>
        <ActionButton type="submit" kind="primary" isInactive={isBusy}>
          {action}
        </ActionButton>
        <p class="hint">
          <a href={to('bots')}>Not now</a>
        </p>
      </form>
    </main>
  )
}

function enter(token: string | undefined, workspaceId: string): void {
  forget()
  signIn({ ...(token !== undefined && { token }), workspaceId }, staysSignedIn())
  navigate(to('bots'), { replace: true })
}

function explainInvitation(error: unknown): string {
  if (!(error instanceof Failure) || error.status !== 401) return explain(error)
  return `${error.message}.`
}
