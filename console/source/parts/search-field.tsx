import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isOfInputMethod } from '../../widget/frame/input-method.ts'
import { Icon } from './icons.tsx'

interface SearchFieldProps {
  label: string
  value: string
  onChange: (value: string) => void
}

const pauseMilliseconds = 200

/** A search field that searches when typing pauses. `/` focuses it, Escape clears it. */
export function SearchField({ label, value, onChange }: SearchFieldProps): JSX.Element {
  const [text, setText] = useState(value)
  /** Runs while typing has not paused. */
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    // A text that is being typed stays, and so does a space at its end.
    setText((shown) => (timer.current !== undefined || shown.trim() === value ? shown : value))
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (next: string) => {
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      timer.current = undefined
      onChange(next.trim())
    }, pauseMilliseconds)
  }
  return (
    <label class="search-field">
      <Icon name="search" />
      <input
        type="search"
        dir="auto"
        aria-label={label}
        placeholder={label}
        value={text}
        onInput={({ currentTarget }) => change(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || isOfInputMethod(event)) return
          change('')
          event.currentTarget.blur()
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  )
}
