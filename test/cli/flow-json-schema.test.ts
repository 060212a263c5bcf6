import { readFile } from 'node:fs/promises'
import { Ajv, type ValidateFunction } from 'ajv'
import { beforeAll, expect, test } from 'vitest'

let isFlow: ValidateFunction
beforeAll(async () => {
  const schema = JSON.parse(await readFile(new URL('../../bot/flow.schema.json', import.meta.url), 'utf8')) as object
  isFlow = new Ajv({ strict: false }).compile(schema)
})

const flowOf = (card: object) => ({ id: 'main', start: 'a', nodes: [{ id: 'a', cards: [card], next: null }] })

test.each([
  {
    id: 'c',
    type: 'say',
    message: 'Hello',
    variants: ['Hi', { type: 'image', imageUrl: 'https://example.com/a.png' }],
  },
  { id: 'c', type: 'condition', if: { $: 'user.age > 17' }, ports: { true: 'a', false: null } },
  { id: 'c', type: 'set', values: { 'user.age': { years: [1, { $: 'workflow.x' }] } } },
  { id: 'c', type: 'choice', message: 'Tea?', options: [{ label: 'Yes', value: 'yes' }], ports: { yes: 'other/' } },
])('the schema for editors accepts the card %j', (card) => {
  isFlow(flowOf(card))
  expect(isFlow.errors).toBe(null)
})

test.each([
  { id: 'c', type: 'shout' },
  { id: 'c', type: 'say', message: 'Hello', volume: 3 },
  { id: 'c', type: 'condition' },
  { type: 'say', message: 'Hello' },
  { id: 'c', type: 'say', message: 'Hello', ports: { error: 4 } },
])('the schema for editors marks the card %j', (card) => {
  expect(isFlow(flowOf(card))).toBe(false)
})
