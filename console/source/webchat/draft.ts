import { useState } from 'preact/hooks'
import type { WebchatConfiguration } from '../../../shared/models/webchat-configuration.ts'

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
 * A draft of a configuration. An empty list of origins closes the web chat, and one of file types its uploads, while an absent one
 * opens them: an empty field keeps which of the two it was.
 */
export function useDraft(stored: WebchatConfiguration): Draft {
  const [values, setValues] = useState(stored)
  const [origins, setOrigins] = useState((stored.allowedOrigins ?? []).join('\n'))
  const [fileTypes, setFileTypes] = useState((stored.fileTypes ?? []).join('\n'))
  return {
    values,
    origins,
    fileTypes,
    set: (change) => setValues({ ...values, ...change }),
    setOrigins,
    setFileTypes,
    configuration() {
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
  const entries = text.split(/[\s,]+/).filter(Boolean)
  return entries.length > 0 || stored?.length === 0 ? { [name]: entries } : {}
}

/** Leaves out empty texts, links without an address, and groups of nothing. */
export function withoutEmpty(values: WebchatConfiguration): WebchatConfiguration {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (isEmpty(value) ? [] : [[name, filled(value)]])),
  )
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
