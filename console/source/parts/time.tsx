import type { JSX } from 'preact'
import { formatAbsolute, formatRelative, now } from '../format.ts'

/** A relative time; its tooltip has the exact time. */
export function Time({ at }: { at: string }): JSX.Element {
  return (
    <time dateTime={at} title={formatAbsolute(at)}>
      {formatRelative(at, now.value)}
    </time>
  )
}
