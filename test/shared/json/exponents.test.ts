import { inject, expect, test } from 'vitest'
import { Client } from 'pg'
import { storedLength } from '#shared/json/exponents.ts'
import { parseBody } from '#shared/json/parse-body.ts'

const edges = [
  0,
  -0,
  1e21,
  -1.5e21,
  1e300,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  1e-7,
  1e-300,
  1.25e-300,
  Number.MIN_VALUE,
]
const random = new Float64Array(crypto.getRandomValues(new Uint8Array(16_000)).buffer)
const numbers = [...edges, ...random].filter((number) => Number.isFinite(number))

test('no number is longer in PostgreSQL than it is counted, and none is counted with many digits more', async () => {
  const client = new Client({ connectionString: inject('databaseUrl') })
  await client.connect()
  try {
    const { rows } = await client.query<{ text: string }>(
      'select value::text as text from jsonb_array_elements($1::jsonb) with ordinality order by ordinality',
      [JSON.stringify(numbers)],
    )
    for (const [index, number] of numbers.entries()) {
      const counted = storedLength(JSON.stringify(number))
      expect(counted).toBeGreaterThanOrEqual(rows[index]!.text.length)
      // The digits before or after the point, the exponent itself, and its sign.
      expect(counted).toBeLessThan(rows[index]!.text.length + 25)
    }
  } finally {
    await client.end()
  }
})

test('texts and names of fields count as they are, with exponents in them too, and so do other words', () => {
  for (const value of [{ '1e300': ['2E300', '\\', '"1e300', true, false, null] }, ['1e300\\'], 'e300']) {
    const text = JSON.stringify(value)
    expect(storedLength(text)).toBe(text.length)
  }
  expect(storedLength('{"1e300":1e300}')).toBe('{"1e300":1e300}'.length + 300)
})

test('exponents are counted however they are written, and as those of numbers at most', () => {
  for (const text of ['1e300', '1E300', '1e+300', '1E-300', '1e0300'])
    expect(storedLength(`[${text}]`)).toBe(302 + text.length)
  expect(storedLength('1e99999999999999999999')).toBeLessThan(400)
})

const list = (count: number) => `[${Array(count).fill('1e300').join(',')}]`

test('a body is refused when its numbers have more than 1 MB of digits without exponents', () => {
  expect(parseBody(list(3400))).toHaveLength(3400)
  expect(() => parseBody(list(3600))).toThrow(/more digits without exponents than 1 MB/)
  expect(() => parseBody(list(3600).replaceAll('1e300', '1E-300'))).toThrow(/Send them as texts/)
  expect(parseBody(`["${list(3600)}"]`)).toHaveLength(1)
})
