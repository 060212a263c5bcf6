import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import { firstCode } from '../bot/first-code.ts'
import { Field } from '../parts/field.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { navigate, to } from '../state/route.ts'

/** Creates a bot with initial code and opens its editor. */
export function CreateBot({ onClose }: { onClose: () => void }): JSX.Element {
  const [name, setName] = useState('')
  const create = async () => {
    const { bot } = await ask<'createBot'>('POST', '/bots', { body: { name: name.trim(), code: firstCode } })
    navigate(to('bots', bot.id, 'code'))
  }
  return (
    <FormDialog title="New bot" action="Create" onSubmit={create} onClose={onClose}>
      <Field label="Name" name="name" autoFocus maxLength={200} value={name} onChange={setName} />
      <p class="quiet">The new bot has one hook, which repeats each message. Its code opens in the editor.</p>
    </FormDialog>
  )
}
