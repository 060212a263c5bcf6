import type { JSX } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { ask, explain, Failure, tokenOfCookie } from '../api/ask.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { useModal } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { to } from '../state/route.ts'
import { interruptedBecause, membership, resume, session, signOut } from '../state/session.ts'
import { leave } from '../shell.tsx'

/**
 * Over a page whose session has ended: signs the same person in again. The page stays with what was typed in it, and
 * cannot be read.
 */
export function SignInAgain(): JSX.Element {
  const dialog = useModal()
  const problemId = useId()
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const hasCookie = session.value?.token === undefined

  /** @param given a personal token; undefined for the browser's cookie */
  const enter = async (given: string | undefined) => {
    setIsBusy(true)
    setProblem('')
    try {
      if (await isSamePerson(given)) resume(given)
      else beginAnew()
    } catch (error) {
      const isUnknown = given !== undefined && error instanceof Failure && error.status === 401
      setProblem(isUnknown ? 'No account has this token. Copy the whole token, without quotes.' : explain(error))
      setIsBusy(false)
    }
  }
  useEffect(() => {
    if (!hasCookie) return
    // The member has signed in with another tab, and comes back.
    const look = () => void enter(undefined)
    addEventListener('focus', look)
    return () => removeEventListener('focus', look)
  }, [hasCookie])

  const submit = (event: Event) => {
    event.preventDefault()
    void enter(hasCookie ? undefined : token.trim())
  }
  return (
    <dialog
      ref={dialog}
      class="sign-in-again"
      aria-label="Sign in again"
      // Escape would leave a page that gets no data.
      onKeyDown={(event) => event.key === 'Escape' && event.preventDefault()}
      onCancel={(event) => event.preventDefault()}
    >
      <form class="dialog" onSubmit={submit}>
        <header>
          <h2>Sign in again</h2>
        </header>
        <div class="dialog-text">
          <p>{interruptedBecause.value}</p>
          <p class="quiet">The page stays as it is, with what you have typed. Save it again afterwards.</p>
          {hasCookie ? (
            <p>
              <a href={to()} target="_blank">
                Sign in in another tab
              </a>
              , and come back.
            </p>
          ) : (
            <Field
              label="Personal token"
              type="password"
              autoFocus
              problemId={problem === '' ? undefined : problemId}
              value={token}
              onChange={setToken}
            />
          )}
          {problem && (
            <p id={problemId} class="problem" role="alert">
              {problem}
            </p>
          )}
        </div>
        <footer>
          <button type="button" class="button" onClick={leave}>
            Sign out
          </button>
          <ActionButton type="submit" kind="primary" isInactive={isBusy}>
            {hasCookie ? 'Continue' : 'Sign in'}
          </ActionButton>
        </footer>
      </form>
    </dialog>
  )
}

/** Whether credentials are those of the person whose page is open, and who is still a member of the workspace. @throws Failure */
async function isSamePerson(given: string | undefined): Promise<boolean> {
  const as = { token: given ?? (await tokenOfCookie()), workspaceId: session.value!.workspaceId }
  try {
    const { id } = await ask<'getWorkspaceMember'>('GET', '/workspace-members/me', { as })
    return id === membership.value?.id
  } catch (error) {
    if (error instanceof Failure && (error.status === 403 || error.status === 404)) return false
    throw error
  }
}

/** Another person does not see what was typed here: the sign-in page takes the place of this one, without its memory. */
function beginAnew(): void {
  signOut()
  // After the page is gone, which would ask before it is left.
  setTimeout(() => location.assign(to()))
}
