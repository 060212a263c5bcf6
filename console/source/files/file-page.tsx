import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { FileOfBot } from '../api/types.ts'
import { formatBytes } from '../format.ts'
import { Copy } from '../parts/copy.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Json } from '../parts/json.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { More } from '../parts/more.tsx'
import { Outcome } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { notify } from '../state/notices.ts'
import { useFurtherPages } from '../state/further-pages.ts'
import { useAnswer } from '../state/resource.ts'
import { navigate, to } from '../state/route.ts'

const passagesOfPage = 100

/** One file: its properties, its passages, and what may be done with it. */
export function FilePage({ botId, fileId }: { botId: string; fileId: string }): JSX.Element {
  const found = useAnswer<'getFile'>(`/files/${encodeURIComponent(fileId)}`, { botId, every: 3000 })
  return (
    <section aria-label="File" class="file-page">
      <nav class="toolbar" aria-label="Back">
        <a href={to('bots', botId, 'files')}>All files</a>
      </nav>
      <Loaded of={found}>
        {({ file }) => (
          <>
            <Properties botId={botId} file={file} />
            {file.status === 'indexing_completed' && <Passages key={file.updatedAt} botId={botId} file={file} />}
          </>
        )}
      </Loaded>
    </section>
  )
}

function Properties({ botId, file }: { botId: string; file: FileOfBot }): JSX.Element {
  const [isAsking, setIsAsking] = useState(false)
  const remove = async () => {
    await ask<'deleteFile'>('DELETE', `/files/${file.id}`, { botId })
    notify('good', `“${file.key}” is deleted.`)
    navigate(to('bots', botId, 'files'))
  }
  return (
    <article class="panel file-properties">
      <header>
        <h2>{file.key}</h2>
        <Outcome of={file.status} />
      </header>
      {file.failedStatusReason && <p class="error-message">{file.failedStatusReason}</p>}
      <dl class="facts-grid">
        <div>
          <dt>Size</dt>
          <dd>{formatBytes(file.size)}</dd>
        </div>
        <div>
          <dt>Type</dt>
          <dd>{file.contentType}</dd>
        </div>
        <div>
          <dt>Access</dt>
          <dd>{file.accessPolicies.includes('public_content') ? 'public' : 'private'}</dd>
        </div>
        <div>
          <dt>Owner</dt>
          <dd>{file.owner.name ?? file.owner.type}</dd>
        </div>
        <div>
          <dt>Changed</dt>
          <dd>
            <Time at={file.updatedAt} />
          </dd>
        </div>
        {file.expiresAt && (
          <div>
            <dt>Expires</dt>
            <dd>
              <Time at={file.expiresAt} />
            </dd>
          </div>
        )}
      </dl>
      <p class="chips">
        {Object.entries(file.tags).map(([name, value]) => (
          <span key={name} class="chip">
            <code>
              {name}={value}
            </code>
          </span>
        ))}
      </p>
      {Object.keys(file.metadata).length > 0 && <Json value={file.metadata} label="Metadata" />}
      <footer class="toolbar">
        <Copy text={file.id} label="id" />
        <span class="spacer" />
        {file.size !== null && (
          <a class="button" href={pathOf(file.url)} target="_blank" rel="noreferrer" download>
            Download
          </a>
        )}
        <button type="button" class="button" onClick={() => setIsAsking(true)}>
          Delete
        </button>
      </footer>
      {isAsking && (
        <Confirm
          title="Delete the file"
          action="Delete"
          isDangerous
          onClose={() => setIsAsking(false)}
          onSubmit={remove}
        >
          <p>“{file.key}”, its content and its passages are deleted. Nothing brings them back.</p>
        </Confirm>
      )}
    </article>
  )
}

/** The platform may be reached under several origins; this page has one of them. */
function pathOf(address: string): string {
  const { pathname, search } = new URL(address)
  return pathname + search
}

function Passages({ botId, file }: { botId: string; file: FileOfBot }): JSX.Element {
  const path = `/files/${file.id}/passages`
  const query = { limit: passagesOfPage }
  const list = useAnswer<'listFilePassages'>(path, { botId, query })
  const further = useFurtherPages(path, (nextToken) =>
    ask<'listFilePassages'>('GET', path, { botId, query: { ...query, nextToken } }),
  )
  return (
    <section aria-labelledby="passages">
      <h2 id="passages">Passages</h2>
      <Loaded of={list}>
        {(first) => {
          const pages = [first, ...further.pages]
          const { nextToken } = pages.at(-1)!.meta
          return (
            <>
              <ol class="plain passages" aria-label="Passages, in the order of the document">
                {pages
                  .flatMap(({ passages }) => passages)
                  .map(({ id, content, meta: { subtype, pageNumber } }) => (
                    <li key={id} class="panel passage">
                      <p class="facts quiet">
                        <span>{subtype}</span>
                        {pageNumber !== undefined && <span>page {pageNumber}</span>}
                      </p>
                      <p class="passage-text">{content}</p>
                    </li>
                  ))}
              </ol>
              <More of={further} nextToken={nextToken} label="Show further passages" />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
