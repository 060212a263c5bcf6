import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Query } from '../api/ask.ts'
import type { Bot } from '../api/types.ts'
import { Select } from '../parts/choice.tsx'
import { Icon } from '../parts/icons.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { query, setQuery } from '../state/route.ts'

const names = ['text', 'user', 'tag', 'integration', 'since'] as const

/** The search in the page's address; empty fields do not filter. */
export type Filter = Record<(typeof names)[number], string>

const periods = [
  { value: '', label: 'Any time' },
  { value: '1h', label: 'Last hour' },
  { value: '1d', label: 'Last day' },
  { value: '7d', label: 'Last week' },
  { value: '30d', label: 'Last 30 days' },
] as const
type Period = (typeof periods)[number]['value']

const hours: Record<string, number> = { '1h': 1, '1d': 24, '7d': 7 * 24, '30d': 30 * 24 }

const empty = Object.fromEntries(names.map((name) => [name, '']))

export function filterOfPage(): Filter {
  return Object.fromEntries(names.map((name) => [name, query.value.get(name) ?? ''])) as Filter
}

export function isFiltered(filter: Filter): boolean {
  return names.some((name) => filter[name] !== '')
}

/** The filter as fields of the API. A user is named by the id or by a part of the name, a tag as `key` or `key=value`. */
export function toSearch({ text, user, tag, integration, since }: Filter): Query {
  const [tagKey, ...value] = tag.split('=')
  const period = hours[since]
  return {
    text,
    [/^user_\w+$/.test(user) ? 'userId' : 'userName']: user,
    tagKey,
    tagValue: value.length > 0 ? value.join('=') : undefined,
    integration,
    timeStart: period === undefined ? undefined : new Date(Date.now() - period * 3_600_000).toISOString(),
  }
}

/** The fields of the search. */
export function Filters({ bot, filter }: { bot: Bot; filter: Filter }): JSX.Element {
  const integrations = [
    { value: '', label: 'All integrations' },
    ...Object.keys(bot.integrations).map((alias) => ({ value: alias, label: alias })),
  ]
  return (
    <div class="toolbar conversation-filters">
      <SearchField label="Search messages" value={filter.text} onChange={(text) => setQuery({ text })} />
      <Part label="User: name or id" value={filter.user} onChange={(user) => setQuery({ user })} />
      <Part label="Tag: key=value" value={filter.tag} onChange={(tag) => setQuery({ tag })} />
      <Select
        label="Integration"
        options={integrations}
        value={filter.integration}
        onChange={(integration) => setQuery({ integration })}
      />
      <Select label="Time" options={periods} value={filter.since as Period} onChange={(since) => setQuery({ since })} />
      {isFiltered(filter) && (
        <button type="button" class="button" onClick={() => setQuery(empty)}>
          <Icon name="close" />
          Clear
        </button>
      )}
    </div>
  )
}

interface PartProps {
  label: string
  value: string
  onChange: (value: string) => void
}

/** A field that searches when it is left, or with Enter. */
function Part({ label, value, onChange }: PartProps): JSX.Element {
  // A text that is being typed stays when the page is drawn again.
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  return (
    <input
      type="text"
      aria-label={label}
      placeholder={label}
      maxLength={200}
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
      onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
    />
  )
}
