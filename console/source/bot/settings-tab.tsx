import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask, explain } from '../api/ask.ts'
import type { Bot } from '../api/types.ts'
import { Confirm, FormDialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/icons.tsx'
import { SaveButton } from '../parts/save-button.tsx'
import { attempt, notify } from '../state/notices.ts'
import { navigate, to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import { useKept } from '../state/typed.ts'
import { useUnsaved } from '../state/unsaved.ts'
import { readHosts } from './hosts.ts'
import { RetentionForm } from './retention-form.tsx'
import type { FormProps, TabProps } from './tab.ts'

/** The bot's name, permitted hosts, secrets, what events keep of language models, how long rows are kept, and deletion. */
export function SettingsTab({ bot, reloadBot }: TabProps): JSX.Element {
  const [isDeleting, setIsDeleting] = useState(false)
  const change = async (body: object, done: string) => {
    const isDone = await attempt(() => ask('PUT', `/bots/${bot.id}`, { body }), done)
    // Also where it failed: a change without an answer may have been carried out.
    reloadBot()
    return isDone
  }
  const isFixed = !mayChange.value
  return (
    <fieldset class="settings" disabled={isFixed}>
      <NameForm bot={bot} change={change} />
      <HostsForm bot={bot} change={change} />
      <SecretsForm bot={bot} change={change} />
      <PromptsForm bot={bot} change={change} />
      <RetentionForm bot={bot} change={change} />
      {!isFixed && (
        <section class="panel">
          <header>
            <h2>Delete the bot</h2>
          </header>
          <p class="quiet">Deletes its code, conversations, users, events and logs permanently.</p>
          <button type="button" class="button danger" onClick={() => setIsDeleting(true)}>
            <Icon name="trash" />
            Delete
          </button>
        </section>
      )}
      {isDeleting && <DeleteBot bot={bot} onClose={() => setIsDeleting(false)} />}
    </fieldset>
  )
}

function NameForm({ bot, change }: FormProps): JSX.Element {
  const [name, setName] = useKept(`${bot.id} name`, bot.name)
  const submit = (event: Event) => {
    event.preventDefault()
    setName(name.trim())
    void change({ name: name.trim() }, 'The bot is renamed.')
  }
  return (
    <form class="panel" onSubmit={submit}>
      <Field label="Name" maxLength={200} value={name} onChange={setName} />
      <SaveButton isInactive={name.trim() === bot.name || name.trim() === ''} />
    </form>
  )
}

function HostsForm({ bot, change }: FormProps): JSX.Element {
  const granted = (bot.permissions.net ?? []).join('\n')
  const [hosts, setHosts] = useKept(`${bot.id} hosts`, granted)
  const submit = (event: Event) => {
    event.preventDefault()
    let net: string[]
    try {
      net = readHosts(hosts)
    } catch (error) {
      return notify('bad', explain(error))
    }
    setHosts(net.join('\n'))
    void change({ permissions: { ...bot.permissions, net } }, 'The bot may now request these hosts.')
  }
  return (
    <form class="panel" onSubmit={submit}>
      <label class="field">
        Hosts that its code may reach
        <textarea
          rows={Math.max(2, hosts.split('\n').length)}
          placeholder={'api.example.com\n*.example.org'}
          spellcheck={false}
          value={hosts}
          onInput={({ currentTarget }) => setHosts(currentTarget.value)}
        />
      </label>
      <p class="quiet">One per line. Without entries, the bot may request no hosts.</p>
      <SaveButton isInactive={hosts.trim() === granted} />
    </form>
  )
}

function SecretsForm({ bot, change }: FormProps): JSX.Element {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const [removed, setRemoved] = useState<string>()
  useUnsaved(name !== '' || value !== '')
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!(await change({ secrets: { [name.trim()]: value } }, `The code reads it as env.SECRET_${name.trim()}.`)))
      return
    setName('')
    setValue('')
  }
  return (
    <>
      <form class="panel" onSubmit={submit}>
        <header>
          <h2>Secrets</h2>
        </header>
        {bot.secrets.length > 0 && (
          <ul class="plain secrets">
            {bot.secrets.map((secret) => (
              <li key={secret}>
                <code>{secret}</code>
                <button
                  type="button"
                  class="button small"
                  aria-label={`Remove ${secret}`}
                  onClick={() => setRemoved(secret)}
                >
                  Remove
                </button>
              </li>
            ))}
          </ul>
        )}
        <div class="pair">
          <Field
            label="Name of a secret"
            placeholder="API_KEY"
            pattern="[A-Za-z_][A-Za-z0-9_]*"
            title="letters, digits and _, not beginning with a digit"
            spellcheck={false}
            autocomplete="off"
            value={name}
            onChange={setName}
          />
          <Field label="Value" type="password" autocomplete="off" value={value} onChange={setValue} />
        </div>
        <p class="quiet">The value is stored encrypted and never shown. It replaces a secret of the same name.</p>
        <SaveButton isInactive={name.trim() === '' || value === ''} />
      </form>
      {removed !== undefined && (
        <Confirm
          title={`Remove ${removed}`}
          action="Remove"
          isDangerous
          onSubmit={() => change({ secrets: { [removed]: null } }, `${removed} is removed.`)}
          onClose={() => setRemoved(undefined)}
        >
          <p>The code no longer has it. Nothing brings its value back.</p>
        </Confirm>
      )}
    </>
  )
}

function PromptsForm({ bot, change }: FormProps): JSX.Element {
  /** The choice that is being stored. A refused one is none: the box shows what is stored. */
  const [chosen, setChosen] = useState<boolean>()
  useEffect(() => setChosen(undefined), [bot.keepPrompts])
  const save = async (keepPrompts: boolean) => {
    setChosen(keepPrompts)
    const done = keepPrompts ? 'Events keep their prompts from now on.' : 'Events keep no more prompts.'
    if (!(await change({ keepPrompts }, done))) setChosen(undefined)
  }
  return (
    <section class="panel">
      <header>
        <h2>Language models</h2>
      </header>
      <label class="check">
        <input
          type="checkbox"
          checked={chosen ?? bot.keepPrompts}
          onChange={({ currentTarget }) => void save(currentTarget.checked)}
        />
        Keep prompts and answers with the events
      </label>
      <p class="quiet">The timeline shows them to developers. They contain what users said.</p>
    </section>
  )
}

/** Deletes the bot. The user has to type its name, so that no other bot is deleted by mistake. */
function DeleteBot({ bot, onClose }: { bot: Bot; onClose: () => void }): JSX.Element {
  const [typed, setTyped] = useState('')
  const remove = async () => {
    if (await attempt(() => ask('DELETE', `/bots/${bot.id}`), `${bot.name} is deleted.`)) navigate(to('bots'))
  }
  return (
    <FormDialog
      title={`Delete ${bot.name}`}
      action="Delete for good"
      isDangerous
      isDisabled={typed !== bot.name}
      onSubmit={remove}
      onClose={onClose}
    >
      <Field label="Type the bot’s name to delete it" autoFocus autocomplete="off" value={typed} onChange={setTyped} />
    </FormDialog>
  )
}
