import type { JSX } from 'preact'
import { formatAbsolute, formatRelative, now } from '../format.ts'

/** How long ago something was, or when it will be; to the second where one points at it. */
export function Time({ at }: { at: string }): JSX.Element {
  return (
    <time dateTime={at} title={formatAbsolute(at)}>
      {formatRelative(at, now.value)}
    </time>
  )
}
