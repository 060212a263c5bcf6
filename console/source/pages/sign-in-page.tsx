import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask, explain, Failure, tokenOfCookie } from '../api/ask.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { ProviderButtons } from '../parts/provider-buttons.tsx'
import { navigate, to } from '../state/route.ts'
import { signedOutBecause, signIn } from '../state/session.ts'

/** The ends of a sign-in with a provider, in the part after the # of the address (`api/sign-in/sign-in.ts`). */
const ends: Record<string, string> = {
  expired: 'The sign-in took too long, or began in another browser. Try again.',
  failed: 'The provider did not sign you in. The server’s log has the reason.',
  invitation: 'The invitation can no longer be accepted. Ask an administrator of the workspace for another.',
  'no-account': 'You have no account here. Ask an administrator of a workspace to invite you.',
}

/** Signs in with a provider, or with a personal token, and opens the first workspace that the account is a member of. */
export function SignInPage(): JSX.Element {
  const [token, setToken] = useState('')
  const [stays, setStays] = useState(false)
  const [end] = useState(() => location.hash.slice(1))
  const [problem, setProblem] = useState(ends[end] ?? signedOutBecause.value)
  const [isBusy, setIsBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Isobot'
    if (end === '') return
    navigate(to(), { replace: true })
    if (end === 'signed-in') void enter(undefined)
  }, [])

  const submit = async (event: Event) => {
    event.preventDefault()
    const given = token.trim()
    if (given.startsWith('inv_')) return navigate(`${to('invitation')}#${given}`)
    await enter(given)
  }

  /** @param given a personal token; undefined for the browser's cookie, which all tabs have */
  const enter = async (given: string | undefined) => {
    setIsBusy(true)
    setProblem('')
    try {
      const as = { token: given ?? (await tokenOfCookie()) }
      const { workspaces } = await ask<'listWorkspaces'>('GET', '/workspaces', { as })
      const [first] = workspaces
      if (first) signIn({ ...(given && { token: given }), workspaceId: first.id }, stays || given === undefined)
      else setProblem('The account is a member of no workspace. Ask an administrator to invite it.')
    } catch (error) {
      const isUnknown = given !== undefined && error instanceof Failure && error.status === 401
      setProblem(isUnknown ? 'No account has this token. Copy the whole token, without quotes.' : explain(error))
    } finally {
      setIsBusy(false)
    }
  }

  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" />
          <path d="M16 6.5 24.2 11v10L16 25.5 7.8 21V11z" />
          <circle cx="16" cy="16" r="3.2" />
        </svg>
        <h1>Sign in to Isobot</h1>
        <ProviderButtons label="Sign in with" onProblem={setProblem} />
        <label>
          Personal token
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            required
            autoFocus
            value={token}
            aria-invalid={problem !== ''}
            aria-describedby="sign-in-problem"
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
        <p id="sign-in-problem" class="problem" role="alert">
          {problem}
        </p>
        <label class="check">
          <input type="checkbox" checked={stays} onChange={({ currentTarget }) => setStays(currentTarget.checked)} />
          Stay signed in on this device
        </label>
        <ActionButton type="submit" kind="primary" isInactive={isBusy}>
          {isBusy ? 'Signing in' : 'Sign in'}
        </ActionButton>
        <p class="hint">
          <code>npm start</code> prints a token and stores it in <code>.isobot/credentials.json</code>. On a platform it
          is <code>ISOBOT_ADMIN_TOKEN</code>. <a href={to('invitation')}>Accept an invitation</a> to get one.
        </p>
      </form>
    </main>
  )
}
