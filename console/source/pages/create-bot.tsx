import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask, explain } from '../api/ask.ts'
import type { Bot } from '../api/types.ts'
import { firstCode } from '../bot/first-code.ts'
import { Dialog } from '../parts/dialog.tsx'
import { navigate, to } from '../state/route.ts'

/** Makes a bot that answers, and opens its code. */
export function CreateBot({ onClose }: { onClose: () => void }): JSX.Element {
  const [name, setName] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const create = async (event: Event) => {
    event.preventDefault()
    setIsBusy(true)
    try {
      const { bot } = await ask<{ bot: Bot }>('POST', '/bots', { body: { name: name.trim(), code: firstCode } })
      navigate(to('bots', bot.id, 'code'))
    } catch (error) {
      setProblem(explain(error))
      setIsBusy(false)
    }
  }
  return (
    <Dialog title="New bot" onClose={onClose}>
      <form onSubmit={create}>
        <div class="dialog-text">
          <label class="field">
            Name
            <input
              name="name"
              required
              autoFocus
              maxLength={200}
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          </label>
          <p class="quiet">It begins with a hook that repeats what it hears. Its code opens in the editor.</p>
          {problem && (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
        </div>
        <footer>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isBusy}>
            Create
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
