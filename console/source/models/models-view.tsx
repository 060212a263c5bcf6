import type { JSX } from 'preact'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { allPages } from '../api/all-pages.ts'
import { ask } from '../api/ask.ts'
import { formatDollars } from '../bot/model-call.tsx'
import { formatCount, plural, shortId } from '../format.ts'
import { Chart } from '../parts/chart.tsx'
import { Segmented } from '../parts/choice.tsx'
import { Figures, type Figure } from '../parts/figures.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer, useResource } from '../state/resource.ts'
import { query, setQuery, to } from '../state/route.ts'
import { Budget } from './budget.tsx'
import { byPeriod, causesOf, rangeOf, sumBy, type ModelUsage, type Period, type Sums } from './usage.ts'

const periods: { value: Period; label: string }[] = [
  { value: 'days', label: 'By day' },
  { value: 'months', label: 'By month' },
]

/** The use of language models by a bot, or without one by the whole workspace, and its budget. */
export function ModelsView({ botId }: { botId?: string }): JSX.Element {
  const period: Period = query.value.get('by') === 'months' ? 'months' : 'days'
  const range = rangeOf(period)
  const owner = botId === undefined ? {} : { botId }
  const usage = useAnswer<'getModelUsage'>('/models/usage', { query: { ...range, ...owner }, every: 30_000 })
  const budget = useAnswer<'getModelBudget'>('/models/budget', { query: owner, every: 30_000 })
  return (
    <>
      <div class="toolbar">
        <Segmented
          label="Period of the sums"
          options={periods}
          value={period}
          onChange={(by) => setQuery({ by: by === 'days' ? '' : by })}
        />
      </div>
      <Loaded of={usage} lines={8}>
        {(found) => {
          const sums = byPeriod(found, period, range)
          return (
            <>
              <Figures figures={figuresOf(found, sums, period)} />
              <Charts sums={sums} period={period} />
              <Shares title="Models" sums={sumBy(found, ({ model }) => model)} />
              {botId === undefined && <Bots usage={found} />}
              <Failures usage={found} />
            </>
          )
        }}
      </Loaded>
      <Loaded of={budget} lines={4}>
        {(state) => <Budget state={state} botId={botId} reload={budget.reload} />}
      </Loaded>
    </>
  )
}

function figuresOf({ failures }: ModelUsage, sums: Sums[], period: Period): Figure[] {
  const total = (of: (sum: Sums) => number) => sums.reduce((whole, sum) => whole + of(sum), 0)
  const failed = failures.reduce((whole, { failures: count }) => whole + count, 0)
  const since = period === 'days' ? 'in 30 days' : 'in 12 months'
  return [
    ['Cost', formatDollars(total(({ cost }) => cost)), 'an estimate by known prices'],
    ['Tokens', formatCount(total(({ input, output }) => input + output)), since],
    ['Calls', formatCount(total(({ calls }) => calls)), since],
    ['Failures', formatCount(failed), 'of requests to providers', failed > 0 ? 'bad' : ''],
  ]
}

function Charts({ sums, period }: { sums: Sums[]; period: Period }): JSX.Element {
  const times = sums.map(({ start }) => Date.parse(start) / 1000)
  const span = period === 'days' ? 'day' : 'month'
  return (
    <div class="charts">
      <Chart
        title={`Tokens each ${span}`}
        times={times}
        span={span}
        kind="bars"
        series={[
          { label: 'questions', tone: 'accent', values: sums.map(({ input }) => input) },
          { label: 'answers', tone: 'second', values: sums.map(({ output }) => output) },
        ]}
        format={(value) => (value === null ? '–' : formatCount(value))}
      />
      <Chart
        title={`Cost each ${span}`}
        times={times}
        span={span}
        kind="lines"
        series={[{ label: 'US dollars', tone: 'accent', values: sums.map(({ cost }) => cost) }]}
        format={(value) => (value === null ? '–' : formatDollars(value))}
      />
    </div>
  )
}

function Bots({ usage }: { usage: ModelUsage }): JSX.Element {
  const bots = useResource('names of bots', loadBots)
  const names = new Map(bots.data?.map(({ id, name }) => [id, name]))
  const nameOf = (id: string) => <a href={to('bots', id, 'models')}>{names.get(id) ?? shortId(id)}</a>
  return <Shares title="Bots" sums={sumBy(usage, ({ botId }) => botId)} labelOf={nameOf} />
}

function loadBots(abort: AbortSignal): Promise<AnswerOf<'listBots'>['bots']> {
  return allPages(async (nextToken) => {
    const page = await ask<'listBots'>('GET', '/bots', { query: { pageSize: 100, nextToken }, abort })
    return { items: page.bots, nextToken: page.meta.nextToken }
  })
}

function Shares({
  title,
  sums,
  labelOf = (key) => <code>{key}</code>,
}: {
  title: string
  sums: (Sums & { key: string })[]
  labelOf?: (key: string) => JSX.Element
}): JSX.Element {
  return (
    <section class="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      {sums.length === 0 ? (
        <p class="nothing">No language model was used.</p>
      ) : (
        <ol class="plain lines">
          {sums.map(({ key, calls, input, output, cost }) => (
            <li key={key}>
              <span class="breakable">{labelOf(key)}</span>
              <span class="number quiet">
                {plural(calls, 'call')}, {plural(input + output, 'token')}
              </span>
              <span class="number">{formatDollars(cost)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

function Failures({ usage }: { usage: ModelUsage }): JSX.Element | null {
  const causes = causesOf(usage)
  if (causes.length === 0) return null
  return (
    <section class="panel" aria-label="Failures">
      <header>
        <h2>Failures by cause</h2>
      </header>
      <ol class="plain lines">
        {causes.map(({ key, model, cause, count }) => (
          <li key={key}>
            <code class="breakable">{model}</code>
            <span>{cause}</span>
            <span class="number">{formatCount(count)}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}
