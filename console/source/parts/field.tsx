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
  /** The id of the element that says what is wrong with the value, if something is. */
  problemId?: string | undefined
  /** Default: true. */
  required?: boolean
  value: string
  onChange: (value: string) => void
}

/** A field of a form, with its label. */
export function Field({ label, type = 'text', problemId, value, onChange, ...input }: FieldProps): JSX.Element {
  // Preact's types have one variant for each type of input and none for a union of types.
  const kind = type as 'text'
  return (
    <label class="field">
      {label}
      <input
        type={kind}
        dir="auto"
        required
        value={value}
        aria-invalid={problemId !== undefined}
        aria-describedby={problemId}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        {...input}
      />
    </label>
  )
}
