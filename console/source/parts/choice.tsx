import type { JSX } from 'preact'

interface ChoiceProps<Value extends string> {
  label: string
  options: readonly { value: Value; label: string; keyShortcut?: string }[]
  value: Value
  onChange: (value: Value) => void
}

/** A few options side by side, of which one is selected. */
export function Segmented<Value extends string>({ label, options, value, onChange }: ChoiceProps<Value>): JSX.Element {
  return (
    <div class="segmented" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          aria-keyshortcuts={option.keyShortcut}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  )
}

/** A drop-down list, for more options than fit side by side. */
export function Select<Value extends string>({ label, options, value, onChange }: ChoiceProps<Value>): JSX.Element {
  return (
    <select
      class="select"
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  )
}
