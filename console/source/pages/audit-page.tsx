import type { JSX } from 'preact'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { ask } from '../api/ask.ts'
import { shortId } from '../format.ts'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { More } from '../parts/more.tsx'
import { Outcome } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { useFurtherPages } from '../state/further-pages.ts'
import { useResource } from '../state/resource.ts'
import { session } from '../state/session.ts'
import { Page } from './page.tsx'
import { useMembers } from './use-members.ts'

/** The audit log of the workspace. */
export function AuditPage(): JSX.Element {
  const path = `/workspaces/${session.value?.workspaceId}/audit-records`
  const load = (abort?: AbortSignal, nextToken?: string): Promise<AnswerOf<'getAuditRecords'>> =>
    ask<'getAuditRecords'>('GET', path, { query: { pageSize: 50, nextToken }, ...(abort && { abort }) })
  const latest = useResource(path, load)
  const older = useFurtherPages(path, (nextToken) => load(undefined, nextToken))
  const members = useMembers()
  const names = new Map(members.data?.map(({ id, displayName }) => [id, displayName]))
  return (
    <Page title="Audit log" about="Changes in this workspace and readings of conversations, by whom, newest first">
      <Loaded of={latest} lines={10}>
        {(first) => {
          const pages = [first, ...older.pages]
          const records = pages.flatMap((page) => page.records)
          if (records.length === 0) return <Empty icon="audit" title="No records yet" />
          return (
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
              <More of={older} nextToken={pages.at(-1)!.meta.nextToken} label="Show older records" />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
