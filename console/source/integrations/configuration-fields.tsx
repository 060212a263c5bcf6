import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { FieldError, SchemaField, Texts } from './schema-fields.ts'

interface ConfigurationFieldsProps {
  fields: SchemaField[]
  texts: Texts
  /** The refusal of one of the fields. */
  refused: FieldError | undefined
  onChange: (texts: Texts) => void
}

/** A field for each part of a configuration, with the refusal beside the field that it concerns. */
export function ConfigurationFields({ fields, texts, refused, onChange }: ConfigurationFieldsProps): JSX.Element {
  return (
    <>
      {fields.map((field) => (
        <ConfigurationField
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          problem={refused?.field === field.name ? refused.message : ''}
          onChange={(text) => onChange({ ...texts, [field.name]: text })}
        />
      ))}
    </>
  )
}

interface ConfigurationFieldProps {
  field: SchemaField
  text: string
  problem: string
  onChange: (text: string) => void
}

function ConfigurationField({ field, text, problem, onChange }: ConfigurationFieldProps): JSX.Element {
  const id = useId()
  const { label, description, isRequired, kind } = field
  const hint = [description, kind === 'json' && 'As JSON.'].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>
        {label} {isRequired && <span class="quiet">required</span>}
      </label>
      <Input id={id} field={field} text={text} problem={problem} onChange={onChange} />
      {hint && (
        <span id={`${id}-hint`} class="quiet">
          {hint}
        </span>
      )}
      {problem && (
        <span id={`${id}-problem`} class="problem" role="alert">
          {label} {problem}
        </span>
      )}
    </div>
  )
}

function Input({ id, field, text, problem, onChange }: ConfigurationFieldProps & { id: string }): JSX.Element {
  const { kind, choices, standard, isRequired } = field
  const shared = {
    id,
    'aria-required': isRequired,
    'aria-invalid': problem !== '',
    'aria-describedby': `${id}-hint ${id}-problem`,
    value: text,
  }
  if (kind === 'choice') {
    return (
      <select class="select" {...shared} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{standard === '' ? 'No value' : `Default: ${choiceLabel(standard)}`}</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choiceLabel(choice)}
          </option>
        ))}
      </select>
    )
  }
  const input = {
    ...shared,
    placeholder: standard,
    spellcheck: false,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value),
  }
  const rows = Math.max(2, text.split('\n').length)
  if (kind === 'key') return <textarea class="hidden-text" autocomplete="off" rows={rows} {...input} />
  if (kind === 'json' || (kind === 'text' && text.includes('\n'))) return <textarea rows={rows} {...input} />
  if (kind === 'secret') return <input type="password" autocomplete="off" {...input} />
  return <input type="text" autocomplete="off" inputMode={kind === 'number' ? 'decimal' : 'text'} {...input} />
}

/** The words for a choice, which is a JSON text. */
function choiceLabel(choice: string): string {
  if (choice === 'true') return 'Yes'
  if (choice === 'false') return 'No'
  const value: unknown = JSON.parse(choice)
  return typeof value === 'string' ? value : choice
}
