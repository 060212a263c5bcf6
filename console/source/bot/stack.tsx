import type { JSX } from 'preact'
import { to } from '../state/route.ts'

/** Positions in code that is one uploaded file, which the console's editor shows. */
const ownPosition = /\bbot\.ts:(\d+):(\d+)/

/** The stack of an error. Positions in the bot's code link to the editor. */
export function Stack({ botId, stack = '' }: { botId: string; stack: string | undefined }): JSX.Element {
  return (
    <pre class="stack" tabIndex={0} role="region" aria-label="Stack">
      {withSourceLinks(botId, stack)}
    </pre>
  )
}

/** A text whose positions in the bot's code are links. */
export function withSourceLinks(botId: string, text: string): (string | JSX.Element)[] {
  return text.split(/(\bbot\.ts:\d+:\d+)/).map((part, index) => {
    const [, line, column] = ownPosition.exec(part) ?? []
    if (line === undefined || column === undefined) return part
    return (
      <a key={index} href={`${to('bots', botId, 'code')}?line=${line}&column=${column}`}>
        {part}
      </a>
    )
  })
}
