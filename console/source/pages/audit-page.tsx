import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { shortId } from '../format.ts'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { Outcome } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { useAnswer } from '../state/resource.ts'
import { session } from '../state/session.ts'
import { Page } from './page.tsx'

const firstRecords = 50
const maxRecords = 100

/** The audit log of the workspace. */
export function AuditPage(): JSX.Element {
  const [pageSize, setPageSize] = useState(firstRecords)
  const path = `/workspaces/${session.value?.workspaceId}/audit-records`
  const records = useAnswer<'getAuditRecords'>(path, { query: { pageSize } })
  const members = useAnswer<'listWorkspaceMembers'>('/workspace-members', { query: { pageSize: 100 } })
  const names = new Map(members.data?.members.map(({ id, displayName }) => [id, displayName]))
  return (
    <Page title="Audit log" about="Changes in this workspace and readings of conversations, by whom, newest first">
      <Loaded of={records} lines={10}>
        {({ records, meta }) =>
          records.length === 0 ? (
            <Empty icon="audit" title="No records yet" />
          ) : (
            <>
              <ol class="plain lines panel audit" aria-label="Records">
                {records.map((record) => (
                  <li key={record.id}>
                    <span>
                      <strong>{record.operation ?? record.action}</strong>{' '}
                      <span>{record.resourceName ?? record.resourceId}</span> <span class="quiet">{record.value}</span>
                    </span>
                    <span class="quiet">{names.get(record.userId) ?? record.userEmail ?? shortId(record.userId)}</span>
                    {record.outcome === 'unknown' ? <Outcome of="unknown" /> : <span />}
                    <span class="number quiet">
                      <Time at={record.recordedAt} />
                    </span>
                  </li>
                ))}
              </ol>
              {meta.nextToken !== undefined && pageSize < maxRecords && (
                <p class="more">
                  <button type="button" class="button" onClick={() => setPageSize(maxRecords)}>
                    Show more
                  </button>
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  )
}
