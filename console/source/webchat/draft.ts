import { useEffect, useState } from 'preact/hooks'
import type { WebchatConfiguration } from '../../../shared/models/webchat-configuration.ts'
import { useTyped } from '../state/typed.ts'

export type ContactName = 'website' | 'email' | 'phone' | 'termsOfService' | 'privacyPolicy'

/** The configuration as the form has it: a field that is empty or absent is left to the platform. */
export interface Draft {
  values: WebchatConfiguration
  /** Lists as the text of a field, one entry per line. */
  origins: string
  fileTypes: string
  set(change: WebchatConfiguration): void
  setOrigins(text: string): void
  setFileTypes(text: string): void
  /** The configuration to store. */
  configuration(): WebchatConfiguration
}

/**
 * A draft of a configuration: the changes of this page to what is stored, which others may change meanwhile. An empty
 * list of origins closes the web chat, and one of file types its uploads, while an absent one opens them: an empty field
 * keeps which of the two it was.
 */
export function useDraft(stored: WebchatConfiguration): Draft {
  const [changes, setChanges] = useState<WebchatConfiguration>({})
  const [origins, setOrigins] = useTyped((stored.allowedOrigins ?? []).join('\n'))
  const [fileTypes, setFileTypes] = useTyped((stored.fileTypes ?? []).join('\n'))
  // A change that is stored is none any more: its field follows the changes of others.
  useEffect(() => {
    setChanges((changes) =>
      Object.fromEntries(
        Object.entries(changes).filter(([name, value]) => !isSame(value, stored[name as keyof WebchatConfiguration])),
      ),
    )
  }, [JSON.stringify(stored)])
  const values = { ...stored, ...changes }
  return {
    values,
    origins,
    fileTypes,
    set: (change) => setChanges({ ...changes, ...change }),
    setOrigins,
    setFileTypes,
    configuration() {
      setOrigins(entriesOf(origins).join('\n'))
      setFileTypes(entriesOf(fileTypes).join('\n'))
      const { allowedOrigins: _origins, fileTypes: _types, ...others } = values
      return {
        ...withoutEmpty(others),
        ...list('allowedOrigins', origins, stored.allowedOrigins),
        ...list('fileTypes', fileTypes, stored.fileTypes),
      }
    },
  }
}

function list(name: 'allowedOrigins' | 'fileTypes', text: string, stored: string[] | undefined): WebchatConfiguration {
  const entries = entriesOf(text)
  return entries.length > 0 || stored?.length === 0 ? { [name]: entries } : {}
}

const entriesOf = (text: string) => text.split(/[\s,]+/).filter(Boolean)

/** Leaves out empty texts, links without an address, and groups of nothing. */
export function withoutEmpty(values: WebchatConfiguration): WebchatConfiguration {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (isEmpty(value) ? [] : [[name, filled(value)]])),
  )
}

/** Whether two values are equal when they are stored, regardless of the order of their fields. */
function isSame(one: unknown, other: unknown): boolean {
  const [text, otherText] = [one, other].map((value) =>
    JSON.stringify(isEmpty(value) ? undefined : sorted(filled(value))),
  )
  return text === otherText
}

function sorted(value: unknown): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
    : value
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === '' || value === undefined
  if ('link' in value) return isEmpty(value.link)
  return Object.values(value).every(isEmpty)
}

function filled(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).filter(([, part]) => !isEmpty(part)))
}
