import type { JSX } from 'preact'
import { languageOf, localeOf } from '../../widget/locale.ts'
import { textsIn } from '../../widget/texts/texts.ts'
import type { WidgetTextName } from '../../../shared/models/webchat-appearance.ts'
import type { ContactName, Draft } from './draft.ts'

interface TextProps {
  label: string
  value: string | undefined
  placeholder?: string
  type?: 'text' | 'password'
  onChange: (value: string) => void
}

/** A field of one line that may stay empty. */
export function Line({ label, value = '', type = 'text', onChange, ...input }: TextProps): JSX.Element {
  // Preact's types have one variant for each type of input and none for a union of types.
  const kind = type as 'text'
  return (
    <label class="field">
      {label}
      <input
        type={kind}
        dir="auto"
        autocomplete="off"
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        {...input}
      />
    </label>
  )
}

/** A field of several lines that may stay empty. */
export function Area({ label, value = '', placeholder, onChange }: TextProps): JSX.Element {
  return (
    <label class="field">
      {label}
      <textarea
        dir="auto"
        rows={Math.max(2, value.split('\n').length)}
        placeholder={placeholder}
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </label>
  )
}

/** A function that visitors have or have not. */
export function Check({
  label,
  value,
  onChange,
}: {
  label: string
  value: boolean
  onChange: (value: boolean) => void
}): JSX.Element {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      {label}
    </label>
  )
}

const contacts: [ContactName, string, string][] = [
  ['website', 'Website', 'https://www.example.com'],
  ['email', 'Email', 'mailto:help@example.com'],
  ['phone', 'Phone', 'tel:+431234567'],
  ['termsOfService', 'Terms of service', 'https://example.com/terms'],
  ['privacyPolicy', 'Privacy policy', 'https://example.com/privacy'],
]

/** The links below the field for messages. */
export function Contacts({ draft }: { draft: Draft }): JSX.Element {
  return (
    <>
      {contacts.map(([name, label, example]) => {
        const { link = '', title = '' } = draft.values[name] ?? {}
        return (
          <div key={name} class="pair">
            <Line
              label={`${label}, address`}
              placeholder={example}
              value={link}
              onChange={(changed) => draft.set({ [name]: { title, link: changed } })}
            />
            <Line
              label={`${label}, title`}
              placeholder={label}
              value={title}
              onChange={(changed) => draft.set({ [name]: { title: changed, link } })}
            />
          </div>
        )
      })}
    </>
  )
}

/** Characters that do not fit a line of a phone. */
const longText = 36

/** The texts of the widget, each with the one that it has otherwise. */
export function Texts({ draft }: { draft: Draft }): JSX.Element {
  const { locale, texts } = draft.values
  const usual = textsIn(languageOf(localeOf(locale, undefined)))
  return (
    <details class="texts">
      <summary>Texts of the widget</summary>
      <p class="quiet">For a language that the widget does not have, or in other words. Names in braces stay.</p>
      {(Object.keys(usual) as WidgetTextName[]).map((name) => {
        const Field = usual[name].length > longText ? Area : Line
        return (
          <Field
            key={name}
            label={name}
            placeholder={usual[name]}
            value={texts?.[name]}
            onChange={(changed) => draft.set({ texts: { ...texts, [name]: changed } })}
          />
        )
      })}
    </details>
  )
}
