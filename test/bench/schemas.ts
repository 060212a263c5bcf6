import { setImmediate as turn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { UntrustedSchema } from '#shared/code/untrusted-schema.ts'
import { minProcessorMilliseconds } from '../support/processor-time.ts'
import type { Options } from './options.ts'
import { round, table } from './report.ts'
import { percentile } from './statistics.ts'

const item = {
  type: 'object',
  properties: { sku: { type: 'string', pattern: '^[A-Z]{3}-\\d{4}$' }, tags: { items: { type: 'string' } } },
  required: ['sku'],
  additionalProperties: false,
}
const cart = {
  type: 'object',
  properties: {
    count: { type: 'integer', minimum: 0 },
    name: { type: 'string', maxLength: 100 },
    email: { type: 'string', format: 'email' },
    items: { type: 'array', items: item },
  },
  required: ['count'],
  additionalProperties: false,
}
const cartOf = (length: number) => ({
  count: length,
  name: 'Ann',
  email: 'ann@example.com',
  items: Array.from({ length }, (_, index) => ({ sku: `ABC-${1000 + index}`, tags: ['new', 'red'] })),
})

const [smallCart, largeCart] = [cartOf(2), cartOf(2600)]

/** A schema whose validation ends only at the interpreter's limit of steps. */
const hostile = {
  schema: { anyOf: [0, 1].map((name) => ({ properties: { a: { $ref: '#' } }, required: [`x${name}`] })) },
  data: Array.from({ length: 100 }).reduce<object>((inner) => ({ a: inner }), {}),
}

interface Measured {
  /** Processor time in milliseconds, for our interpreter and for Ajv in a context with a time limit. */
  costs: { what: string; ours: number; ajv: number }[]
  /** Durations, in milliseconds, of a neighbour's turns, each of which validates a small state. */
  turns: { what: string; sorted: number[] }[]
}

/**
 * Measures the cost of validation by a developer's schema, compared with Ajv with a time limit, and its effect on
 * neighbours.
 */
export async function measureSchemas({ seconds }: Options): Promise<Measured> {
  const [ours, ajv] = [makeOurs(), makeAjv()]
  return {
    costs: [
      { what: 'prepare a small schema', ours: await least(200, makeOurs), ajv: await least(10, makeAjv) },
      {
        what: 'validate a small state',
        ours: await least(2000, () => ours(smallCart)),
        ajv: await least(100, () => ajv(smallCart)),
      },
      {
        what: `validate ${Math.round(JSON.stringify(largeCart).length / 1024)} KB`,
        ours: await least(10, () => ours(largeCart)),
        ajv: await least(10, () => ajv(largeCart)),
      },
    ],
    turns: [
      { what: 'alone', sorted: await measureTurns(seconds, ours, () => {}) },
      { what: 'beside validations that are given up', sorted: await measureTurns(seconds, ours, makeHostile()) },
    ],
  }
}

function makeOurs(): (data: object) => unknown {
  const schema = new UntrustedSchema(cart, 'the schema')
  return (data) => schema.validate(data)
}

async function least(times: number, work: () => unknown): Promise<number> {
  const all = await minProcessorMilliseconds(() => {
    for (let count = 0; count < times; count++) work()
  })
  return all / times
}

/** The implementation before the interpreter. */
function makeAjv(): (data: object) => unknown {
  const ajv = new Ajv({ strict: false, logger: false, useDefaults: true, verbose: true, code: { optimize: false } })
  addFormats.default(ajv)
  const isValid = ajv.compile(cart)
  return (data) => {
    const completed = structuredClone(data)
    return runInNewContext('check()', { check: () => isValid(completed) }, { timeout: 100 })
  }
}

function makeHostile(): () => void {
  const schema = new UntrustedSchema(hostile.schema, 'the schema')
  return () => void schema.validate(hostile.data)
}

/** @param other work between the turns of the neighbour */
async function measureTurns(seconds: number, validate: (data: object) => unknown, other: () => void) {
  const turns: number[] = []
  const end = performance.now() + seconds * 1000
  for (let before = performance.now(); before < end; before = performance.now()) {
    const next = turn()
    other()
    await next
    validate(smallCart)
    turns.push(performance.now() - before)
  }
  return turns.toSorted((a, b) => a - b)
}

/** Makes both Markdown tables. */
export function schemasTables({ costs, turns }: Measured): string[] {
  return [
    table(
      ['processor time, least of five', 'interpreted, µs', 'Ajv with a time limit, µs', 'ratio'],
      costs.map(({ what, ours, ajv }) => [what, round(ours * 1000), round(ajv * 1000), round(ours / ajv)]),
    ),
    table(
      ['a neighbour’s turn', 'p50 ms', 'p99 ms', 'longest ms'],
      turns.map(({ what, sorted }) => [
        what,
        round(percentile(sorted, 50)),
        round(percentile(sorted, 99)),
        round(sorted.at(-1)!),
      ]),
    ),
  ]
}
