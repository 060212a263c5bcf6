import { expect, test } from 'vitest'
import { compile, describeErrors } from '#shared/schema.ts'

const isShort = compile({ type: 'string', maxLength: 3 }, 'body')

test.each([
  ['abc', true],
  ['abcd', false],
  ['👍👍👍', true],
  ['👍👍👍👍', false],
  ['👍👍👍a', false],
])('maxLength counts characters, not units of UTF-16: %s', (text, isValid) => {
  expect(isShort(text)).toBe(isValid)
  expect(describeErrors(isShort)).toBe(isValid ? '' : 'must NOT have more than 3 characters')
})

test('large texts are measured without a look at each character', () => {
  const isCode = compile({ type: 'string', maxLength: 20_000_000 }, 'body')
  const text = `${'x'.repeat(19_000_000)}é`
  // Without the compilation of the schema.
  expect(isCode('')).toBe(true)
  const begin = performance.now()
  for (let count = 0; count < 20; count += 1) expect(isCode(text)).toBe(true)
  // To count the characters takes more than 20 ms each time.
  expect(performance.now() - begin).toBeLessThan(200)
  expect(isCode(`${text}${text}`)).toBe(false)
})

test('a text that has no match for a long pattern is told the form in words, without the pattern', () => {
  const description = 'A code of letters.'
  const describe = (pattern: string) => {
    const isCode = compile({ type: 'string', pattern, description }, 'body')
    expect(isCode('1')).toBe(false)
    return describeErrors(isCode, 'code')
  }
  expect(describe('^[a-z]+$')).toBe('code must match pattern "^[a-z]+$": A code of letters')
  expect(describe(`^(${'[a-z]'.repeat(20)})$`)).toBe('code has another form than it must have: A code of letters')
})
