import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask, explain, Failure } from '../api/ask.ts'
import { navigate, to } from '../state/route.ts'
import { signedOutBecause, signIn } from '../state/session.ts'

/** Signs in with a personal token and lists the workspaces it gives access to. */
export function SignInPage(): JSX.Element {
  const [token, setToken] = useState('')
  const [stays, setStays] = useState(false)
  const [problem, setProblem] = useState(signedOutBecause.value)
  const [isBusy, setIsBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Isobot'
  }, [])

  const submit = async (event: Event) => {
    event.preventDefault()
    const as = { token: token.trim() }
    if (as.token.startsWith('inv_')) return navigate(`${to('invitation')}#${as.token}`)
    setIsBusy(true)
    setProblem('')
    try {
      const { workspaces } = await ask<'listWorkspaces'>('GET', '/workspaces', { as })
      const [first] = workspaces
      if (first) signIn({ ...as, workspaceId: first.id }, stays)
      else setProblem('The account of this token is a member of no workspace. Ask an administrator to invite it.')
    } catch (error) {
      const isUnknown = error instanceof Failure && error.status === 401
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
        <button type="submit" class="button primary" disabled={isBusy}>
          {isBusy ? 'Signing in' : 'Sign in'}
        </button>
        <p class="hint">
          <code>npm start</code> prints a token and stores it in <code>.isobot/credentials.json</code>. On a platform it
          is <code>ISOBOT_ADMIN_TOKEN</code>. <a href={to('invitation')}>Accept an invitation</a> to get one.
        </p>
      </form>
    </main>
  )
}
