import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { ListedHealth } from '../api/types.ts'
import { healthOf } from '../bot/health.ts'
import { formatCount, formatMilliseconds, formatShare, plural } from '../format.ts'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { moveBetweenRows } from '../parts/rows.ts'
import { SearchField } from '../parts/search-field.tsx'
import { Sparkline } from '../parts/sparkline.tsx'
import { Status, type Tone } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { useResource } from '../state/resource.ts'
import { query, setQuery, to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import { CreateBot } from './create-bot.tsx'
import { Page } from './page.tsx'

const everyMilliseconds = 5000
const maxPages = 20

/** All bots of the workspace with their health over the last hour. */
export function BotsPage(): JSX.Element {
  const bots = useResource('health of bots', loadAll, { every: everyMilliseconds })
  const [isCreating, setIsCreating] = useState(false)
  const words = query.value.get('q') ?? ''
  const create = mayChange.value && (
    <button type="button" class="button primary" onClick={() => setIsCreating(true)}>
      <Icon name="plus" />
      New bot
    </button>
  )
  return (
    <Page title="Bots" about="Health of the last hour" actions={create}>
      <Loaded of={bots} lines={5}>
        {(bots) =>
          bots.length === 0 ? (
            <Empty icon="bots" title="No bot yet">
              <p>
                Create one here and edit its code in the browser, or create a project with{' '}
                <code>npx isobot init my-bot</code>.
              </p>
              {create}
            </Empty>
          ) : (
            <>
              {bots.length > 5 && <SearchField label="Search bots" value={words} onChange={(q) => setQuery({ q })} />}
              <BotList bots={bots.filter((bot) => matches(bot, words)).toSorted(byNeed)} />
            </>
          )
        }
      </Loaded>
      {isCreating && <CreateBot onClose={() => setIsCreating(false)} />}
    </Page>
  )
}

async function loadAll(abort: AbortSignal): Promise<ListedHealth[]> {
  const all: ListedHealth[] = []
  let nextToken: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const query = { pageSize: 100, nextToken }
    const answer = await ask<'listBotHealth'>('GET', '/bots/health', { query, abort })
    all.push(...answer.bots)
    nextToken = answer.meta.nextToken
    if (nextToken === undefined) break
  }
  return all
}

function matches({ name, botId }: ListedHealth, words: string): boolean {
  return botId === words || name.toLowerCase().includes(words.toLowerCase())
}

const needs: Partial<Record<Tone, number>> = { bad: 2, warn: 1 }

/** Sorts bots that need attention first, the others by name. */
function byNeed(a: ListedHealth, b: ListedHealth): number {
  const [first = 0, second = 0] = [needs[healthOf(a).tone], needs[healthOf(b).tone]]
  return second - first || a.name.localeCompare(b.name)
}

function BotList({ bots }: { bots: ListedHealth[] }): JSX.Element {
  if (bots.length === 0) return <Empty icon="search" title="No bot matches" />
  return (
    <div class="table bot-list" role="table" aria-label="Bots" onKeyDown={moveBetweenRows}>
      <div class="table-head" role="row">
        {['Bot', 'Events per minute', 'Events', 'Errors', 'p95', 'Waiting', 'Last event'].map((label) => (
          <span key={label} role="columnheader">
            {label}
          </span>
        ))}
      </div>
      {bots.map((bot) => (
        <BotRow key={bot.botId} bot={bot} />
      ))}
    </div>
  )
}

function BotRow({ bot }: { bot: ListedHealth }): JSX.Element {
  const { tone, word } = healthOf(bot)
  const { processed, failed, ignored } = bot.events
  const total = processed + failed + ignored
  return (
    <div class="table-row" role="row">
      <span role="cell" class="bot-name">
        <a data-row dir="auto" href={to('bots', bot.botId)}>
          {bot.name}
        </a>
        <Status tone={tone}>{word}</Status>
      </span>
      <span role="cell" class="chart">
        <Sparkline values={bot.eventsPerMinute} label={`${plural(total, 'event')} in the last hour`} />
      </span>
      <span role="cell" class="number" data-label="events">
        {formatCount(total)}
      </span>
      <span role="cell" class={`number ${failed > 0 ? 'bad' : ''}`} data-label="errors">
        {formatShare(bot.errorRate)}
      </span>
      <span role="cell" class="number" data-label="p95">
        {formatMilliseconds(bot.p95)}
      </span>
      <span role="cell" class={`number ${tone === 'warn' ? 'warn' : ''}`} data-label="waiting">
        {formatCount(bot.waiting)}
      </span>
      <span role="cell" class="number quiet last">
        {bot.lastEventAt ? <Time at={bot.lastEventAt} /> : '–'}
      </span>
    </div>
  )
}
