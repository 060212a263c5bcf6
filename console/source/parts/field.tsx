import type { JSX } from 'preact'

interface FieldProps {
  label: string
  type?: 'text' | 'email' | 'password'
  name?: string
  placeholder?: string
  maxLength?: number
  pattern?: string
  /** The rule of the pattern, in words. */
  title?: string
  autocomplete?: 'off'
  spellcheck?: boolean
  autoFocus?: boolean
  inputMode?: 'numeric'
  /** Default: true. */
  required?: boolean
  value: string
  onChange: (value: string) => void
}

/** A field of a form, with its label. */
export function Field({ label, type = 'text', value, onChange, ...input }: FieldProps): JSX.Element {
  // Preact's types have one variant for each type of input and none for a union of types.
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
