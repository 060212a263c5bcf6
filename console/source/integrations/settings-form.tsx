import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { ask, Failure } from '../api/ask.ts'
import type { Bot } from '../api/types.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { notify } from '../state/notices.ts'
import { useResource } from '../state/resource.ts'
import { hasRole } from '../state/session.ts'
import { ConfigurationFields } from './configuration-fields.tsx'
import { listAvailable, loadDefinition, type Definition, type VersionKey } from './find-integrations.ts'
import { FieldError, fieldsOf, findRefused, toConfiguration, toTexts, type Texts } from './schema-fields.ts'

type Stored = Bot['integrations'][string]

interface SettingsDialogProps {
  bot: Bot
  /** The version that is installed, or that is to be installed. */
  integration: VersionKey
  /** The name of the installation; the proposed one for a new installation. */
  alias: string
  /** Absent for a new installation. */
  installed?: Stored
  onSaved: () => void
  onClose: () => void
}

/** Installs an integration, or changes the version and the configuration of an installation. */
export function SettingsDialog({ integration: { id, name }, ...props }: SettingsDialogProps): JSX.Element {
  const [chosenId, setChosenId] = useState(id)
  const definition = useResource(`integration ${chosenId}`, (abort) => loadDefinition({ id: chosenId, name }, abort))
  // The form and what was entered stay while another version is loaded.
  const latest = useRef<Definition>(undefined)
  latest.current = definition.data ?? latest.current
  return (
    <Loaded of={{ ...definition, data: latest.current }}>
      {(definition) => <SettingsForm {...props} definition={definition} onVersion={setChosenId} />}
    </Loaded>
  )
}

interface SettingsFormProps extends Omit<SettingsDialogProps, 'integration'> {
  definition: Definition
  onVersion: (id: string) => void
}

function SettingsForm({
  bot,
  definition,
  alias,
  installed,
  onVersion,
  onSaved,
  onClose,
}: SettingsFormProps): JSX.Element {
  const [name, setName] = useState(alias)
  const [type, setType] = useState(installed?.configurationType ?? '')
  const stored = installed && (installed.configurationType ?? '') === type ? installed.configuration : {}
  const declared = type === '' ? definition.configuration : definition.configurations[type]
  const fields = fieldsOf(declared?.schema ?? {}, stored)
  const [texts, setTexts] = useState<Texts>({})
  const [refused, setRefused] = useState<FieldError>()
  const shown = { ...toTexts(fields, stored), ...texts }
  const save = async () => {
    setRefused(undefined)
    try {
      const settings = {
        ...(definition.id !== installed?.id && { integrationId: definition.id }),
        ...(!installed && { enabled: true }),
        ...(Object.keys(definition.configurations).length > 0 && { configurationType: type === '' ? null : type }),
        configuration: toConfiguration(fields, shown),
      }
      const body = { integrations: { [name]: settings } }
      announce(await ask<'updateBot'>('PUT', `/bots/${bot.id}`, { body }), name)
    } catch (error) {
      const found = error instanceof Failure ? findRefused(fields, name, error.message) : error
      if (!(found instanceof FieldError)) throw error
      return setRefused(found)
    }
    onSaved()
    onClose()
  }
  const isGeneral = refused && !fields.some((field) => field.name === refused.field)
  return (
    <FormDialog
      title={installed ? `Configure ${alias}` : `Install ${definition.name}`}
      action={installed ? 'Save' : 'Install'}
      onSubmit={save}
      onClose={onClose}
    >
      <Versions definition={definition} onVersion={onVersion} />
      {!installed && <Field label="Name on this bot" autocomplete="off" value={name} onChange={setName} />}
      <Types names={Object.keys(definition.configurations)} type={type} onChange={setType} />
      {installed && !hasRole('administrator') && (
        <p class="quiet">
          Only administrators see the stored configuration. It stays while all fields are empty, and is replaced as a
          whole otherwise.
        </p>
      )}
      <ConfigurationFields fields={fields} texts={shown} refused={refused} onChange={setTexts} />
      {isGeneral && (
        <p class="problem" role="alert">
          {refused.message}
        </p>
      )}
    </FormDialog>
  )
}

/** Shows the outcome of the registration, which does not undo the change when it fails. */
function announce({ bot }: AnswerOf<'updateBot'>, alias: string): void {
  const installed = bot.integrations[alias]
  if (installed?.status === 'registration_failed') {
    return notify('bad', `${alias} is stored, but did not register: ${installed.statusReason ?? 'without a reason'}`)
  }
  const isPending = installed?.status === 'registration_pending'
  notify('good', isPending ? `${alias} is stored and still registers.` : `${alias} is stored and registered.`)
}

/** The versions of an integration; of a built-in one there is only the platform's own. */
function Versions({ definition, onVersion }: { definition: Definition; onVersion: (id: string) => void }): JSX.Element {
  const { id, name } = definition
  const versions = useResource(`versions of ${name}`, (abort) => listAvailable({ name }, abort))
  const listed = versions.data?.versions ?? []
  const options = listed.some((one) => one.id === id) ? listed : [{ ...definition, owner: '' }, ...listed]
  return (
    <label class="field">
      Version
      <select class="select" value={id} onChange={({ currentTarget }) => onVersion(currentTarget.value)}>
        {options.map(({ id, version, owner }) => (
          <option key={id} value={id}>
            {[version, owner].filter(Boolean).join(' · ')}
          </option>
        ))}
      </select>
    </label>
  )
}

interface TypesProps {
  names: string[]
  type: string
  onChange: (type: string) => void
}

/** The choice among the configurations that an integration declares beside its usual one. */
function Types({ names, type, onChange }: TypesProps): JSX.Element | null {
  if (names.length === 0) return null
  return (
    <label class="field">
      Kind of configuration
      <select class="select" value={type} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">default</option>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  )
}
