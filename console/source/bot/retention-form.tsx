import type { JSX } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import type { Bot } from '../api/types.ts'
import { Field } from '../parts/field.tsx'
import { SaveButton } from '../parts/save-button.tsx'
import { Drafts } from '../state/drafts.ts'
import { useUnsaved } from '../state/unsaved.ts'
import type { FormProps } from './tab.ts'

type Days = keyof Bot['retention']

const labels: Record<Days, string> = {
  messageDays: 'Messages and their events, days',
  conversationDays: 'Conversations without a new entry, days',
  eventDays: 'Events and workflows without a conversation, days',
  userDays: 'Users without a conversation, days',
}
const names = Object.keys(labels) as Days[]

/** The typed days that are not stored, by bot. */
const drafts = new Drafts<Partial<Record<Days, string>>>()

/** How long the bot's messages, conversations, events and users are kept. An empty field has the operator's default. */
export function RetentionForm({ bot, change }: FormProps): JSX.Element {
  const stored = Object.fromEntries(names.map((name) => [name, String(bot.retention[name] ?? '')])) as Record<
    Days,
    string
  >
  const [typed, setTyped] = useState(drafts.get(bot.id) ?? {})
  const days = { ...stored, ...typed }
  const given = names.filter((name) => days[name].trim() !== '')
  const isWrongIn = (name: Days) =>
    days[name].trim() !== '' && (!/^\d{1,4}$/.test(days[name].trim()) || Number(days[name]) > 3650)
  const isWrong = names.some(isWrongIn)
  const problemId = useId()
  const isSame = names.every((name) => days[name].trim() === stored[name])
  useUnsaved(!isSame)
  useEffect(() => drafts.set(bot.id, typed), [typed])
  const submit = (event: Event) => {
    event.preventDefault()
    const retention = Object.fromEntries(given.map((name) => [name, Number(days[name])]))
    void change({ retention }, 'Workers delete what is older, a bounded number of rows at a time.')
  }
  // Fields whose text is stored follow what others store.
  useEffect(() => {
    setTyped((typed) =>
      Object.fromEntries(Object.entries(typed).filter(([name, text]) => text.trim() !== stored[name as Days])),
    )
  }, [JSON.stringify(stored)])
  const inEffect = (name: Days) => (bot.retentionInEffect[name] === 0 ? 'kept' : `${bot.retentionInEffect[name]}`)
  return (
    <form class="panel" onSubmit={submit}>
      <header>
        <h2>Retention</h2>
      </header>
      {names.map((name) => (
        <Field
          key={name}
          label={labels[name]}
          inputMode="numeric"
          problemId={isWrongIn(name) ? problemId : undefined}
          required={false}
          autocomplete="off"
          placeholder={stored[name] === '' ? inEffect(name) : ''}
          value={days[name]}
          onChange={(value) => setTyped({ ...typed, [name]: value })}
        />
      ))}
      <p class="quiet">
        Older ones are deleted for good, with their files and states; 0 keeps them. Empty fields have the default of the
        platform. Nothing is deleted while an event waits, people answer, or a flow or workflow is in progress.
      </p>
      {isWrong && (
        <p class="problem" id={problemId} role="alert">
          Days are whole numbers, at most 3650.
        </p>
      )}
      <SaveButton isInactive={isSame || isWrong} />
    </form>
  )
}
