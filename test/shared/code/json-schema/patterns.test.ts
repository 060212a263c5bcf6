import { describe, expect, test } from 'vitest'
import { Budget, BudgetExceededError } from '#shared/code/json-schema/budget.ts'
import { compilePattern, PatternError } from '#shared/code/json-schema/pattern-program.ts'
import { matches } from '#shared/code/json-schema/pattern.ts'

const unbounded = { spend() {} }

const texts = [
  '',
  'a',
  'aa',
  'ab',
  'ba',
  'b',
  'abc',
  'aXb',
  'ABC-1234',
  'foo bar',
  'foo.bar',
  '1',
  '-1.5',
  '2026-11-22',
  '\n',
  'a\nb',
  'é',
  'ß',
  'Ω',
  '😀',
  '😀😀',
  'a😀b',
  '\uD83D',
  '日本',
  '_',
  '-',
  '$',
  'a@b.co',
  'a..b@c.de',
  'ann.lee@example.com',
  '.a@b.co',
  'https://example.com/a?b=c',
  'x.apps.googleusercontent.com',
  'projects/p/topics/t',
  'aaaaaaaaaaaaaaaaaaaaaaab',
  '{1}',
]

const sources = [
  '',
  'a',
  '^a$',
  '^$',
  'a|b',
  '^(?:a|b)+$',
  '^a*$',
  '^a+?b',
  '^a{2}$',
  '^a{0,1}b?$',
  'a{2,}',
  '(a(b)?)+c',
  '.',
  '^.$',
  '^..$',
  '[abc]',
  '^[^a]$',
  '^[a-c]+$',
  '\\d',
  '^\\D+$',
  '\\w\\W',
  '^\\s$',
  '\\bfoo\\b',
  '\\Boo',
  '^\\S+$',
  '[\\s\\S]',
  '[^]',
  '[]',
  '^(?=.*\\d)[\\w-]+$',
  '^(?!a)',
  'a(?!b)',
  '(?<=a)b',
  '(?<!a)b',
  '(?<=(?<!b)a)b',
  '(?<=^a.)c',
  '(?<=😀)b',
  '(?<=\\bfoo )bar',
  '\\p{L}',
  '^\\p{Lu}+',
  '^\\u{1F600}$',
  '\\u00e9',
  '^\\uD83D',
  '\\x61',
  '\\/',
  '\\.',
  '[\\]\\-a]',
  '\\cJ',
  '(?<year>\\d{4})-',
  '^(a|ab)(c|bcd)*$',
  '(a*)*b',
  '(a*)+$',
  '(?:)*',
  '(?:a?){3}$',
  '^(?:(?:a|b)*?b){2}',
  '^[\\w-.]+$',
  '\\-',
  '^[a-z]{2,3}$',
  '^(?!\\.)(?!.*\\.\\.)([a-zA-Z0-9_+-\\.]*)[a-zA-Z0-9_+-]@([a-zA-Z0-9][a-zA-Z0-9\\-]*\\.)+[a-zA-Z]{2,}$',
  '^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$',
  '\\.apps\\.googleusercontent\\.com$',
]

/** The language's own regular expression, with the flag `u` where that is possible. */
function native(source: string): RegExp {
  try {
    return new RegExp(source, 'u')
  } catch {
    return new RegExp(source)
  }
}

describe('a pattern', () => {
  test.each(sources)('%s matches as the language’s own expressions do', (source) => {
    const program = compilePattern(source, unbounded)
    const expression = native(source)
    for (const text of texts) {
      expect({ text, matches: matches(program, text, new Budget()) }).toEqual({ text, matches: expression.test(text) })
    }
  })

  test.each([
    ['^(a+)+$', `${'a'.repeat(20_000)}!`],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(20_000)],
    ['(x+x+)+y', 'x'.repeat(8000)],
    ['^(?=(a+)+$)', `${'a'.repeat(20_000)}!`],
    ['(a|b|ab)*c', 'ab'.repeat(8000)],
    ['(?:a?){100}a{100}$', 'a'.repeat(99)],
    ['[01]*1[01]{200}$', '01'.repeat(2000).concat('2')],
  ])('%s, which takes the language’s own for ever, ends', (source, text) => {
    expect(matches(compilePattern(source, unbounded), text, new Budget())).toBe(false)
  })

  test.each([
    ['^(?:(?=a*b)a)*b$', `${'a'.repeat(200)}b`],
    ['^(?:(?!a*c)a)*b$', `${'a'.repeat(200)}b`],
  ])('%s matches although its look-around reaches equal states at every position', (source, text) => {
    expect(native(source).test(text)).toBe(true)
    expect(matches(compilePattern(source, unbounded), text, new Budget())).toBe(true)
  })

  test('is given up at the step limit when the text is long', () => {
    const program = compilePattern('^(?:a|b|ab)*$', unbounded)
    expect(() => matches(program, 'ab'.repeat(200_000), new Budget())).toThrow(BudgetExceededError)
  })

  test.each([
    ['(', /not a valid regular expression/],
    ['(a)\\1', /refers back to a group with \\1/],
    ['(?<x>a)\\k<x>', /refers back/],
    ['a'.repeat(1001), /longer than 1000 characters/],
    ['('.repeat(501), /not a valid regular expression/],
  ])('%s is refused by name', (source, message) => {
    expect(() => compilePattern(source, unbounded)).toThrow(
      expect.objectContaining({ name: PatternError.name, message: expect.stringMatching(message) }),
    )
  })

  test.each(['(?:){1000000000}', '(?:(?:){1000}){1000000}', '(?:a{1000}){1000}', '((((a{99}){99}){99}){99}){99}'])(
    '%s is not written out beyond what it may take',
    (source) => {
      let left = 50_000
      const allowance = {
        spend(instructions: number) {
          left -= instructions
          if (left < 0) throw new PatternError('is too long')
        },
      }
      expect(() => compilePattern(source, allowance)).toThrow(PatternError)
    },
  )
})
