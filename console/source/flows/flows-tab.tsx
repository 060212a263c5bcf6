import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { TabProps } from '../bot/tab.ts'
import { Empty, Refusal, Skeleton } from '../parts/loaded.tsx'
import { loadPart } from '../parts/load-part.ts'
import { mayChange } from '../state/session.ts'

type FlowsPage = typeof import('./flows-page.tsx').FlowsPage

/** The flows of the bot. Their page is loaded when the tab is first opened. */
export function FlowsTab(props: TabProps): JSX.Element {
  const [page, setPage] = useState<{ Page?: FlowsPage; error?: unknown }>({})
  const load = () => {
    setPage({})
    loadPart(() => import('./flows-page.tsx')).then(
      ({ FlowsPage }) => setPage({ Page: FlowsPage }),
      (error: unknown) => setPage({ error }),
    )
  }
  useEffect(load, [])
  if (!mayChange.value) {
    return (
      <Empty title="Flows are for developers">
        <p>They are part of the bot’s code. Ask an administrator of the workspace for the role of a developer.</p>
      </Empty>
    )
  }
  if (page.error !== undefined) return <Refusal error={page.error} reload={load} />
  return page.Page ? <page.Page {...props} /> : <Skeleton lines={6} />
}
