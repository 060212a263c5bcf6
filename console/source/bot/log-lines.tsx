import type { JSX } from 'preact'
import type { LogLine } from '../api/types.ts'
import { formatAbsolute, formatClock } from '../format.ts'
import { to } from '../state/route.ts'
import { withSourceLinks } from './stack.tsx'

type ShownLine = Pick<LogLine, 'timestamp' | 'level' | 'message'> & Partial<Pick<LogLine, 'id' | 'eventId'>>

/** Lines of a log. Each links to its event, and its positions in the code link to the editor. */
export function LogLines({ botId, lines }: { botId: string; lines: ShownLine[] }): JSX.Element {
  return (
    <ol class="log-lines">
      {lines.map(({ id, timestamp, level, message, eventId }, index) => (
        <li key={id ?? index} class={level}>
          <time dateTime={timestamp} title={formatAbsolute(timestamp)}>
            {formatClock(timestamp)}
          </time>
          <span class="level">{level}</span>
          <span class="words">{withSourceLinks(botId, message)}</span>
          {eventId !== undefined && (
            <a class="event-link" href={to('bots', botId, 'events', eventId)} aria-label="The event of this line">
              event
            </a>
          )}
        </li>
      ))}
    </ol>
  )
}
