import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { openPlatform } from '../support/platform.ts'
import { root } from './blocks.ts'

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; description: string }
}

interface Panel {
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets: { expr: string }[]
}

const read = (path: string) => readFile(join(root, path), 'utf8')

/** The labels of each series, by the names of the series. */
const labelsOf = new Map<string, readonly string[]>()
/** The counters that have no series until they count. */
const late: string[] = []

beforeAll(async () => {
  await using platform = await openPlatform({ environment: { METRICS_TOKEN: 'the-token-of-the-operator' } })
  const { registry } = platform.context.metrics
  for (const metric of registry.getMetricsAsArray()) {
    const { name, type, labelNames = [] } = metric as unknown as { name: string; type: string; labelNames?: string[] }
    const { values } = await registry.getSingleMetric(name)!.get()
    if (type === 'counter' && values.length === 0) late.push(name)
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    for (const suffix of suffixes)
      labelsOf.set(name + suffix, suffix === '_bucket' ? [...labelNames, 'le'] : labelNames)
  }
})

/** The faults of an expression: its syntax, series that do not exist, and labels that no series in it has. */
function faultsOf(expression: string): string[] {
  const faults: string[] = []
  const series: string[] = []
  const labels: string[] = []
  // Grafana replaces its variable before Prometheus reads it.
  const query = expression.replaceAll('$__rate_interval', '5m')
  parser.parse(query).iterate({
    enter({ type, from, to }) {
      const text = query.slice(from, to)
      if (type.isError) faults.push(`syntax at ${from}`)
      if (type.name === 'Identifier') series.push(text)
      if (type.name === 'LabelName') labels.push(text)
    },
  })
  const known = series.flatMap((name) => labelsOf.get(name) ?? [])
  faults.push(...series.filter((name) => !labelsOf.has(name)).map((name) => `no series ${name}`))
  faults.push(...labels.filter((name) => !known.includes(name)).map((name) => `no label ${name}`))
  if (series.length === 0) faults.push('no series')
  return faults
}

test('an expression with a fault is found out', () => {
  expect(faultsOf('max(isobot_workers) ==')).toEqual([expect.stringContaining('syntax')])
  expect(faultsOf('max(isobot_worker)')).toEqual(['no series isobot_worker'])
  expect(faultsOf('sum by (bot) (isobot_workers)')).toEqual(['no label bot'])
  expect(faultsOf('rate(isobot_events_total{result="failed"}[5m])')).toEqual(['no label result'])
})

describe('alert rules', () => {
  let rules: Rule[]
  beforeAll(async () => {
    const { groups } = parse(await read('deploy/prometheus/alerts.yaml')) as { groups: { rules: Rule[] }[] }
    rules = groups.flatMap((group) => group.rules)
  })

  test('use series and labels that exist, and say what to do', () => {
    expect(rules.length).toBeGreaterThan(5)
    expect(rules.flatMap(({ alert, expr }) => faultsOf(expr).map((fault) => `${alert}: ${fault}`))).toEqual([])
    for (const { annotations, labels } of rules) {
      expect(annotations).toMatchObject({ summary: expect.any(String), description: expect.any(String) })
      expect(['critical', 'warning']).toContain(labels.severity)
    }
  })

  test('are those of the page', async () => {
    const page = await read('docs/observability.md')
    const listed = Array.from(page.matchAll(/^\| `(Isobot\w+)`/gm), ([, name]) => name)
    expect(listed).toEqual(rules.map(({ alert }) => alert))
  })
})

test('counters whose first count raises an alert, or is drawn, have their series before it', async () => {
  const files = await Promise.all([read('deploy/prometheus/alerts.yaml'), read('deploy/grafana/dashboard.json')])
  const asked = files.flatMap((file) =>
    Array.from(file.matchAll(/(?:\bincrease\((\w+)|\brate\((\w+)[^)]*\)\) > 0)/g), ([, one, other]) => one ?? other),
  )
  expect(asked).toEqual(expect.arrayContaining(['isobot_webhook_drops_total', 'isobot_sandbox_kills_total']))
  // Where several providers are configured, a rule compares their failures with their calls.
  expect(late).toContain('isobot_model_cost_dollars_total')
  expect(asked.filter((name) => name !== undefined && late.includes(name))).toEqual([])
})

test('the dashboard queries series and labels that exist, in panels that do not overlap', async () => {
  const { panels } = JSON.parse(await read('deploy/grafana/dashboard.json')) as { panels: Panel[] }
  const faults = panels.flatMap(({ title, targets }) =>
    targets.flatMap(({ expr }) => faultsOf(expr).map((fault) => `${title}: ${fault}`)),
  )
  expect(faults).toEqual([])
  const cells = panels.flatMap(({ gridPos: { x, y, w } }) =>
    Array.from({ length: w }, (_, index) => `${x + index} ${y}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
})
