import type { JSX } from 'preact'

interface FieldProps {
  label: string
  type?: 'text' | 'email' | 'password'
  name?: string
  placeholder?: string
  maxLength?: number
  autocomplete?: 'off'
  spellcheck?: boolean
  autoFocus?: boolean
  value: string
  onChange: (value: string) => void
}

/** A field of a form that has to be filled in, with its label. */
export function Field({ label, type = 'text', value, onChange, ...input }: FieldProps): JSX.Element {
  // The types of Preact have a variant for each kind of input, and none for a choice of them.
  const kind = type as 'text'
  return (
    <label class="field">
      {label}
      <input
        type={kind}
        required
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        {...input}
      />
    </label>
  )
}
