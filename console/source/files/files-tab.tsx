import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { allPages } from '../api/all-pages.ts'
import { ask, explain } from '../api/ask.ts'
import type { FileOfBot, KnowledgeBase } from '../api/types.ts'
import type { TabProps } from '../bot/tab.ts'
import { formatBytes } from '../format.ts'
import { Select } from '../parts/choice.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { moveBetweenRows } from '../parts/rows.ts'
import { SearchField } from '../parts/search-field.tsx'
import { Outcome } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { useAnswer, useResource } from '../state/resource.ts'
import { query, setQuery, to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import { FilePage } from './file-page.tsx'
import { FoundPassages } from './found-passages.tsx'
import { KnowledgeBases } from './knowledge-bases.tsx'
import { parseTags, tagsOfKnowledgeBase } from './tags.ts'
import { UploadDialog } from './upload-dialog.tsx'
import { UploadProgress } from './upload-progress.tsx'

const pageSize = 50

/** The files of the bot: their list, searches in their text, uploads, and the knowledge bases. */
export function FilesTab({ bot, segments: [fileId] }: TabProps): JSX.Element {
  if (!mayChange.value) {
    return (
      <Empty title="Files are for developers">
        <p>They may hold personal data. Ask an administrator of the workspace for the role of a developer.</p>
      </Empty>
    )
  }
  return fileId === undefined ? <Files key={bot.id} botId={bot.id} /> : <FilePage botId={bot.id} fileId={fileId} />
}

/** The filter by tags in the page's address, as a JSON text for the API, or the reason why it is none. */
function filterOfPage(): { tags: string; problem?: string } {
  try {
    const tags = { ...parseTags(query.value.get('tags') ?? ''), ...tagsOfKnowledgeBase(query.value.get('kb') ?? '') }
    return { tags: Object.keys(tags).length > 0 ? JSON.stringify(tags) : '' }
  } catch (error) {
    return { tags: '', problem: explain(error) }
  }
}

function Files({ botId }: { botId: string }): JSX.Element {
  const words = query.value.get('text') ?? ''
  const { tags, problem } = filterOfPage()
  const [paging, setPaging] = useState<{ tags: string; tokens: string[] }>({ tags, tokens: [] })
  // Another filter begins at its first page.
  const tokens = paging.tags === tags ? paging.tokens : []
  const setTokens = (tokens: string[]) => setPaging({ tags, tokens })
  const [chosen, setChosen] = useState<File[]>([])
  const [isOver, setIsOver] = useState(false)
  const chooser = useRef<HTMLInputElement>(null)
  const files = useAnswer<'listFiles'>('/files', {
    botId,
    query: { pageSize, tags, nextToken: tokens.at(-1) },
    every: 3000,
  })
  const bases = useResource(`knowledge bases ${botId}`, (abort) => loadKnowledgeBases(botId, abort))
  const knowledgeBases = bases.data ?? []
  const choose = (list: FileList | null | undefined) => setChosen([...(list ?? [])])
  return (
    <section
      class={`files ${isOver ? 'is-over' : ''}`}
      aria-label="Files"
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setIsOver(false)
        choose(event.dataTransfer?.files)
      }}
    >
      <div class="toolbar">
        <SearchField label="Search the text of files" value={words} onChange={(text) => setQuery({ text })} />
        <SearchField
          label="Tags: name=value"
          value={query.value.get('tags') ?? ''}
          onChange={(tags) => setQuery({ tags })}
        />
        {knowledgeBases.length > 0 && (
          <Select
            label="Knowledge base"
            options={[
              { value: '', label: 'All files' },
              ...knowledgeBases.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            value={query.value.get('kb') ?? ''}
            onChange={(kb) => setQuery({ kb })}
          />
        )}
        <span class="spacer" />
        <button type="button" class="button primary" onClick={() => chooser.current?.click()}>
          <Icon name="deploy" />
          Upload
        </button>
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          aria-label="Files to upload"
          onChange={({ currentTarget }) => {
            choose(currentTarget.files)
            currentTarget.value = ''
          }}
        />
      </div>
      <UploadProgress botId={botId} />
      {problem !== undefined ? (
        <p class="problem" role="alert">
          {problem}
        </p>
      ) : words ? (
        <FoundPassages botId={botId} words={words} tags={tags} />
      ) : (
        <Loaded of={files}>
          {({ files: page, meta }) => (
            <>
              <FileList botId={botId} files={page} isFiltered={tags !== ''} />
              {(tokens.length > 0 || meta.nextToken) && (
                <nav class="toolbar" aria-label="Pages">
                  <button
                    type="button"
                    class="button"
                    disabled={tokens.length === 0}
                    onClick={() => setTokens(tokens.slice(0, -1))}
                  >
                    Newer
                  </button>
                  <button
                    type="button"
                    class="button"
                    disabled={!meta.nextToken}
                    onClick={() => setTokens([...tokens, meta.nextToken!])}
                  >
                    Older
                  </button>
                </nav>
              )}
            </>
          )}
        </Loaded>
      )}
      <KnowledgeBases botId={botId} bases={bases} />
      {chosen.length > 0 && (
        <UploadDialog
          botId={botId}
          files={chosen}
          knowledgeBases={knowledgeBases}
          knowledgeBaseId={query.value.get('kb') ?? ''}
          onClose={() => setChosen([])}
          onEnd={files.reload}
        />
      )}
    </section>
  )
}

function loadKnowledgeBases(botId: string, abort: AbortSignal): Promise<KnowledgeBase[]> {
  return allPages(async (nextToken) => {
    const query = { pageSize: 100, nextToken }
    const page = await ask<'listKnowledgeBases'>('GET', '/files/knowledge-bases', { botId, query, abort })
    return { items: page.knowledgeBases, nextToken: page.meta.nextToken }
  })
}

interface FileListProps {
  botId: string
  files: FileOfBot[]
  isFiltered: boolean
}

function FileList({ botId, files, isFiltered }: FileListProps): JSX.Element {
  if (files.length === 0 && isFiltered) {
    return (
      <Empty icon="search" title="No file matches">
        <button type="button" class="button" onClick={() => setQuery({ tags: '', kb: '' })}>
          Show all files
        </button>
      </Empty>
    )
  }
  if (files.length === 0) {
    return (
      <Empty title="No file yet">
        <p>
          Upload one with the button, or drop it here. Bots create files with <code>client.upsertFile</code>.
        </p>
      </Empty>
    )
  }
  return (
    <ol class="plain lines panel file-list" aria-label="Files, newest first" onKeyDown={moveBetweenRows}>
      {files.map(({ id, key, size, status, updatedAt }) => (
        <li key={id}>
          <a href={to('bots', botId, 'files', id)} data-row>
            {key}
          </a>
          <Outcome of={status} />
          <span class="number quiet">{formatBytes(size)}</span>
          <span class="number quiet">
            <Time at={updatedAt} />
          </span>
        </li>
      ))}
    </ol>
  )
}
