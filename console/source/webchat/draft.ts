import { useEffect, useState } from 'preact/hooks'
import type { WebchatConfiguration } from '../../../shared/models/webchat-configuration.ts'
import { Drafts } from '../state/drafts.ts'
import { useTyped } from '../state/typed.ts'
import { useUnsaved } from '../state/unsaved.ts'

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

/** The differences from the stored configuration, by bot. */
const drafts = new Drafts<{ changes: WebchatConfiguration; origins?: string; fileTypes?: string }>()

/**
 * A draft of a configuration: the changes of this page to what is stored, which others may change meanwhile. An empty
 * list of origins closes the web chat, and one of file types its uploads, while an absent one opens them: an empty field
 * keeps which of the two it was.
 */
export function useDraft(botId: string, stored: WebchatConfiguration): Draft {
  const kept = drafts.get(botId)
  const storedOrigins = (stored.allowedOrigins ?? []).join('\n')
  const storedTypes = (stored.fileTypes ?? []).join('\n')
  const [changes, setChanges] = useState<WebchatConfiguration>(kept?.changes ?? {})
  const [origins, setOrigins] = useTyped(storedOrigins, kept?.origins)
  const [fileTypes, setFileTypes] = useTyped(storedTypes, kept?.fileTypes)
  const different = {
    changes: Object.fromEntries(
      Object.entries(changes).filter(([name, value]) => !isSame(value, stored[name as keyof WebchatConfiguration])),
    ),
    ...(origins !== storedOrigins && { origins }),
    ...(fileTypes !== storedTypes && { fileTypes }),
  }
  const isUnsaved = Object.keys({ ...different, ...different.changes }).length > 1
  useUnsaved(isUnsaved)
  useEffect(() => {
    if (isUnsaved) drafts.set(botId, { ...different, changes })
    else drafts.delete(botId)
  }, [isUnsaved, changes, origins, fileTypes])
  // A change that is stored is none any more: its field follows the changes of others.
  useEffect(() => setChanges(different.changes), [JSON.stringify(stored)])
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
