import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { Table, TableJob } from '../api/types.ts'
import { upload } from '../files/uploads.ts'
import { UploadProgress } from '../files/upload-progress.tsx'
import { plural } from '../format.ts'
import { Select } from '../parts/choice.tsx'
import { Icon } from '../parts/icons.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Outcome } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { attempt } from '../state/notices.ts'
import { useAnswer } from '../state/resource.ts'

interface TransfersProps {
  botId: string
  table: Table
  /** Called when an import has ended. */
  onImported: () => void
}

const hasEnded = ({ status }: TableJob) => status === 'completed' || status === 'failed'

/** Imports of files into a table and exports of its rows, with the jobs that carry them out. */
export function Transfers({ botId, table, onImported }: TransfersProps): JSX.Element {
  const path = `/tables/${table.id}`
  const [isBusy, setIsBusy] = useState(false)
  const [format, setFormat] = useState<'csv' | 'json'>('csv')
  const chooser = useRef<HTMLInputElement>(null)
  const jobs = useAnswer<'getTableJobs'>(`${path}/jobs`, { botId, every: isBusy ? 500 : 10_000 })
  const list = jobs.data?.jobs
  useEffect(() => setIsBusy(list?.some((job) => !hasEnded(job)) ?? false), [list])
  // An import may end before a list shows it in progress: the ends themselves tell that there are other rows.
  const ended = list
    ?.filter((job) => job.type === 'import' && hasEnded(job))
    .map(({ id }) => id)
    .join()
  const known = useRef(ended)
  useEffect(() => {
    if (known.current !== undefined && ended !== known.current) onImported()
    known.current = ended
  }, [ended])
  const start = async (content: File | undefined) => {
    if (!content) return
    const fileId = await uploadForImport(botId, table, content)
    if (fileId === undefined) return
    await attempt(
      () => ask<'importTable'>('POST', `${path}/import`, { botId, body: { fileId } }),
      `The import of “${content.name}” begins.`,
    )
    jobs.reload()
  }
  const exportRows = async () => {
    const query = { format, compress: false }
    await attempt(() => ask<'exportTable'>('GET', `${path}/export`, { botId, query }), 'The export begins.')
    jobs.reload()
  }
  return (
    <section aria-labelledby="transfers">
      <div class="toolbar">
        <h2 id="transfers">Imports and exports</h2>
        <span class="spacer" />
        <button type="button" class="button" onClick={() => chooser.current?.click()}>
          <Icon name="deploy" />
          Import a file
        </button>
        <input
          ref={chooser}
          type="file"
          hidden
          accept=".csv,.json,.jsonl,.ndjson,.gz"
          aria-label="File to import"
          onChange={({ currentTarget }) => {
            void start(currentTarget.files?.[0])
            currentTarget.value = ''
          }}
        />
        <Select
          label="Format of the export"
          options={[
            { value: 'csv', label: 'CSV' },
            { value: 'json', label: 'JSON' },
          ]}
          value={format}
          onChange={setFormat}
        />
        <button type="button" class="button" onClick={exportRows}>
          Export
        </button>
      </div>
      <p class="quiet">
        An import creates a row for each record of a CSV or JSON file
        {table.keyColumn !== null && ', or changes the row that has its key'}. Columns that the table lacks are ignored.
      </p>
      <UploadProgress botId={botId} />
      <Loaded of={jobs} lines={1}>
        {({ jobs }) =>
          jobs.length > 0 && (
            <ol class="plain lines panel job-list" aria-label="Imports and exports, newest first">
              {jobs.map((job) => (
                <Job key={job.id} botId={botId} tableName={table.name} job={job} />
              ))}
            </ol>
          )
        }
      </Loaded>
    </section>
  )
}

const dayMilliseconds = 86_400_000

/** Uploads a file as it is: the job reads it. Returns its id, undefined when the upload has failed. */
async function uploadForImport(botId: string, table: Table, content: File): Promise<string | undefined> {
  const now = Date.now()
  return upload(botId, {
    // A key of its own, so that it replaces no file that another import reads.
    key: `imports/${table.name}/${now}-${content.name}`.slice(0, 1024),
    content,
    index: false,
    isPublic: false,
    tags: {},
    expiresAt: new Date(now + dayMilliseconds).toISOString(),
  })
}

function Job({ botId, tableName, job }: { botId: string; tableName: string; job: TableJob }): JSX.Element {
  const { type, status, progress, errors = [], failedStatusReason, outputFileId } = job
  const name = type === 'import' ? 'Import' : 'Export'
  // The address of a content is good for a short time: each download asks for a new one.
  const download = () =>
    attempt(async () => {
      const { file } = await ask<'getFile'>('GET', `/files/${outputFileId!}`, { botId })
      const { pathname, search } = new URL(file.url)
      const link = document.createElement('a')
      link.href = pathname + search
      link.download = `${tableName}.${file.contentType.includes('json') ? 'json' : 'csv'}`
      link.click()
    }, 'The download begins.')
  return (
    <li>
      <div>
        {name} <Outcome of={status} />
        {failedStatusReason && <p class="error-message">{failedStatusReason}</p>}
        {errors.length > 0 && (
          <details>
            <summary>{plural(errors.length, 'record')} not stored</summary>
            <ul class="plain error-message">
              {errors.map((error, index) => (
                <li key={index}>{error}</li>
              ))}
            </ul>
          </details>
        )}
      </div>
      {hasEnded(job) ? (
        <span>
          {type === 'export' && outputFileId !== null && status === 'completed' && (
            <button type="button" class="button small" onClick={download}>
              Download
            </button>
          )}
        </span>
      ) : (
        <progress value={progress} max={100} aria-label={`${name}, ${progress} %`} />
      )}
      <span class="number quiet">
        <Time at={job.createdAt} />
      </span>
    </li>
  )
}
