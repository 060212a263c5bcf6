import type { JSX } from 'preact'
import { ask } from '../api/ask.ts'
import { shortId } from '../format.ts'
import { Copy } from '../parts/copy.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { More } from '../parts/more.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { useFurtherPages } from '../state/further-pages.ts'
import { useResource } from '../state/resource.ts'
import { query, setQuery, to } from '../state/route.ts'
import { Page } from './page.tsx'

/** The fields of all kinds of entries; integrations also name their owner. */
interface Entry {
  id: string
  name: string
  version: string
  title: string
  description: string
  ownerWorkspace?: { name: string }
}

interface EntryPage {
  entries: Entry[]
  nextToken: string | undefined
}

type Query = Record<string, string | number>

const pageSize = 50

const kinds: Record<string, { label: string; load(query: Query, abort?: AbortSignal): Promise<EntryPage> }> = {
  integrations: {
    label: 'Integrations',
    async load(query, abort) {
      const page = await ask<'listPublicIntegrations'>('GET', '/hub/integrations', { query, ...(abort && { abort }) })
      return { entries: page.integrations, nextToken: page.meta.nextToken }
    },
  },
  interfaces: {
    label: 'Interfaces',
    async load(query, abort) {
      const page = await ask<'listPublicInterfaces'>('GET', '/hub/interfaces', { query, ...(abort && { abort }) })
      return { entries: page.interfaces, nextToken: page.meta.nextToken }
    },
  },
  plugins: {
    label: 'Plugins',
    async load(query, abort) {
      const page = await ask<'listPublicPlugins'>('GET', '/hub/plugins', { query, ...(abort && { abort }) })
      return { entries: page.plugins, nextToken: page.meta.nextToken }
    },
  },
}

/** The integrations, interfaces and plugins that all workspaces of the platform find. */
export function HubPage({ kind = 'integrations' }: { kind?: string | undefined }): JSX.Element {
  const chosen = kinds[kind]
  if (!chosen) return <Empty title="Page not found" isPage />
  return (
    <Page title="Hub" about="Integrations, interfaces and plugins that every workspace of this platform can install">
      <nav class="tabs" aria-label="Kinds">
        {Object.entries(kinds).map(([name, { label }]) => (
          <a
            key={name}
            href={name === 'integrations' ? to('hub') : to('hub', name)}
            aria-current={name === kind ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      <Entries key={kind} kind={kind} label={chosen.label} load={chosen.load} />
    </Page>
  )
}

interface EntriesProps {
  kind: string
  label: string
  load(query: Query, abort?: AbortSignal): Promise<EntryPage>
}

function Entries({ kind, label, load }: EntriesProps): JSX.Element {
  const search = query.value.get('search') ?? ''
  const key = `hub ${kind} ${search}`
  const filter: Query = { pageSize, ...(search !== '' && { search }) }
  const first = useResource(key, (abort) => load(filter, abort))
  const further = useFurtherPages(key, (nextToken) => load({ ...filter, nextToken }))
  return (
    <>
      {kind === 'integrations' && (
        <SearchField label="Search integrations" value={search} onChange={(text) => setQuery({ search: text })} />
      )}
      <Loaded of={first} lines={8}>
        {(page) => {
          const pages = [page, ...further.pages]
          const entries = pages.flatMap((each) => each.entries)
          const nextToken = pages.at(-1)!.nextToken
          if (entries.length === 0) return <NoEntries label={label} isFiltered={search !== ''} />
          return (
            <>
              <ol class="plain lines panel audit" aria-label={label}>
                {entries.map((entry) => (
                  <EntryLine key={entry.id} entry={entry} />
                ))}
              </ol>
              <More of={further} nextToken={nextToken} label="Show more" />
            </>
          )
        }}
      </Loaded>
    </>
  )
}

function EntryLine({
  entry: { id, name, version, title, description, ownerWorkspace },
}: {
  entry: Entry
}): JSX.Element {
  return (
    <li>
      <span>
        <strong>{name}</strong> <span class="quiet">{[title, description].filter(Boolean).join(': ')}</span>
      </span>
      <span class="quiet">{ownerWorkspace?.name}</span>
      <span class="number">{version}</span>
      <span class="number quiet">
        <Copy text={id} shown={shortId(id)} label="id" />
      </span>
    </li>
  )
}

function NoEntries({ label, isFiltered }: { label: string; isFiltered: boolean }): JSX.Element {
  if (isFiltered) return <Empty icon="search" title="Nothing has these words" />
  return (
    <Empty icon="empty" title={`No public ${label.toLowerCase()} yet`}>
      <p>
        Publish some with <code>isobot hub import</code>, or with the visibility public.
      </p>
    </Empty>
  )
}
