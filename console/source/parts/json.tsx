import type { JSX } from 'preact'

const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Formatted JSON whose types of values differ by colour. */
export function Json({ value, label }: { value: unknown; label: string }): JSX.Element {
  const text = JSON.stringify(value, null, 2) ?? 'undefined'
  const parts: (string | JSX.Element)[] = []
  let end = 0
  for (const match of text.matchAll(tokens)) {
    const [whole, string, colon, word] = match
    parts.push(text.slice(end, match.index))
    const kind = colon ? 'name' : string ? 'string' : word ? 'word' : 'number'
    parts.push(
      <span key={match.index} class={`json-${kind}`}>
        {string ?? whole}
      </span>,
      colon ?? '',
    )
    end = match.index + whole.length
  }
  parts.push(text.slice(end))
  return (
    <pre class="json" tabIndex={0} role="region" aria-label={label}>
      {parts}
    </pre>
  )
}
