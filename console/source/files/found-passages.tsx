import type { JSX } from 'preact'
import type { FoundPassage } from '../api/types.ts'
import { formatShare } from '../format.ts'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../state/resource.ts'
import { to } from '../state/route.ts'
import { Highlight } from './highlight.tsx'

const maxPassages = 20

interface FoundPassagesProps {
  botId: string
  words: string
  /** The filter of files by tags, as a JSON text; empty for none. */
  tags: string
}

/** The passages that a bot's search for these words finds, with the words marked. */
export function FoundPassages({ botId, words, tags }: FoundPassagesProps): JSX.Element {
  const found = useAnswer<'searchFiles'>('/files/search', {
    botId,
    query: { query: words, tags, limit: maxPassages, withContext: true, includeBreadcrumb: true },
  })
  return (
    <Loaded of={found}>
      {({ passages }) =>
        passages.length === 0 ? (
          <Empty icon="search" title="No passage has these words" />
        ) : (
          <ol class="plain passages" aria-label="Passages, the closest first">
            {passages.map((passage, index) => (
              <Found key={index} botId={botId} passage={passage} words={words} />
            ))}
          </ol>
        )
      }
    </Loaded>
  )
}

function Found({ botId, passage, words }: { botId: string; passage: FoundPassage; words: string }): JSX.Element {
  const { score, meta, file, context = [] } = passage
  const headings = context.filter(({ type }) => type === 'breadcrumb').map(({ text }) => text)
  const current = context.find(({ type }) => type === 'current')?.text ?? passage.content
  return (
    <li class="panel passage">
      <p class="facts quiet">
        <a href={to('bots', botId, 'files', file.id)}>{file.key}</a>
        {meta.pageNumber !== undefined && <span>page {meta.pageNumber}</span>}
        {headings.length > 0 && <span>{headings.join(' › ')}</span>}
        <span class="number">{formatShare(score)}</span>
      </p>
      <p class="passage-text">
        <Highlight text={current} question={words} />
      </p>
    </li>
  )
}
