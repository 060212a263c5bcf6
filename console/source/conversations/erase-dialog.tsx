import { signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { ask, explain } from '../api/ask.ts'
import { Dialog, FormDialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { navigate, to } from '../state/route.ts'

type DataRequest = AnswerOf<'getDataRequest'>['dataRequest']

interface ErasedUser {
  botId: string
  userId: string
}

interface EraseDialogProps extends ErasedUser {
  onClose: () => void
}

const erasing = signal<ErasedUser | undefined>(undefined)

/** Opens the dialog that erases a user. */
export function beginErasing(user: ErasedUser): void {
  erasing.value = user
}

/** The dialog, outside of the pages: the page of the user's conversation goes with the conversation. */
export function ErasingUser(): JSX.Element | null {
  if (!erasing.value) return null
  return <EraseDialog {...erasing.value} onClose={() => (erasing.value = undefined)} />
}

/** The word that has to be typed, so that no user is erased by mistake. */
const confirmation = 'erase'
const lookMilliseconds = 500

/** Erases a user as a person, shows the progress, and lets the member decide about the rows that only name the person. */
function EraseDialog({ botId, userId, onClose }: EraseDialogProps): JSX.Element {
  const [typed, setTyped] = useState('')
  const [texts, setTexts] = useState('')
  const [request, setRequest] = useState<DataRequest>()
  if (request) return <Erasure begun={request} botId={botId} onClose={onClose} />
  const erase = async () => {
    const body = { botId, userId, ...identifiersOf(texts) }
    setRequest((await ask<'eraseUser'>('POST', '/users/erase', { body })).dataRequest)
  }
  return (
    <FormDialog
      title="Erase this person"
      action="Erase for good"
      isDangerous
      isDisabled={typed.trim().toLowerCase() !== confirmation}
      onSubmit={erase}
      onClose={onClose}
    >
      <p>
        Deletes the user with states, files and messages, and the conversations that nobody else takes part in. Then all
        rows of the bot are searched, and those that name the person are listed.
      </p>
      <label class="field">
        Addresses, telephone numbers and other texts that name the person, one per line
        <textarea rows={3} value={texts} onInput={({ currentTarget }) => setTexts(currentTarget.value)} />
      </label>
      <Field
        label={`Type “${confirmation}” to erase what cannot be restored`}
        autoFocus
        autocomplete="off"
        value={typed}
        onChange={setTyped}
      />
    </FormDialog>
  )
}

interface ErasureProps {
  begun: DataRequest
  botId: string
  onClose: () => void
}

/** An erasure in progress and its outcome. It goes on in the workers when the dialog is closed. */
function Erasure({ begun, botId, onClose }: ErasureProps): JSX.Element {
  const [request, setRequest] = useState(begun)
  const [problem, setProblem] = useState('')
  const isOver = request.status === 'completed' || request.status === 'failed'
  const path = `/data-requests/${encodeURIComponent(request.id)}`
  const isShown = useRef(true)
  useEffect(() => () => void (isShown.current = false), [])
  useEffect(() => {
    if (isOver) return
    const look = async () => {
      try {
        const { dataRequest } = await ask<'getDataRequest'>('GET', path)
        if (isShown.current) setRequest(dataRequest)
      } catch (error) {
        setProblem(explain(error))
      }
    }
    const timer = setInterval(() => void look(), lookMilliseconds)
    return () => clearInterval(timer)
  }, [isOver, path])
  const eraseFindings = async () => {
    try {
      setRequest((await ask<'eraseDataFindings'>('POST', `${path}/findings/erase`, { body: {} })).dataRequest)
    } catch (error) {
      setProblem(explain(error))
    }
  }
  const erased = Object.entries(request.erased).filter(([, count]) => count > 0)
  const leave = () => {
    onClose()
    if (request.status === 'completed') navigate(to('bots', botId, 'conversations'))
  }
  return (
    <Dialog title="Erase this person" onClose={leave}>
      <div class="dialog-text">
        <p role="status">
          {request.status === 'completed' && 'The person is erased.'}
          {request.status === 'failed' && (request.failure ?? 'The erasure failed.')}
          {!isOver && `Erasing: ${request.searchedRows} rows searched. This goes on when the dialog is closed.`}
        </p>
        {erased.length > 0 && <p>Erased rows: {erased.map(([kind, count]) => `${count} ${kind}`).join(', ')}</p>}
        {isOver && request.findings > 0 && (
          <p>
            {request.findings === 1 ? 'One other row names' : `${request.findings} other rows name`} the person. They
            may be about more than this person: look at them, or erase them too.
          </p>
        )}
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
      </div>
      <footer>
        {request.status === 'completed' && request.findings > 0 && (
          <button type="button" class="button danger" onClick={() => void eraseFindings()}>
            Erase these rows too
          </button>
        )}
        <button type="button" class="button primary" onClick={leave}>
          {isOver ? 'Done' : 'Close'}
        </button>
      </footer>
    </Dialog>
  )
}

/** The kinds of the given texts, by their form. */
function identifiersOf(texts: string): { emails?: string[]; phones?: string[]; texts?: string[] } {
  const lines = texts
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const emails = lines.filter((line) => /^[^\s@]+@[^\s@]+$/.test(line))
  const phones = lines.filter((line) => /^\+?[\d\s()/.-]{7,}$/.test(line))
  const others = lines.filter((line) => !emails.includes(line) && !phones.includes(line))
  return {
    ...(emails.length > 0 && { emails }),
    ...(phones.length > 0 && { phones }),
    ...(others.length > 0 && { texts: others }),
  }
}
