import assert from 'assert'
import { isDeepStrictEqual } from '../deep-equal.ts'
import { complete, type Provide } from '../provide.ts'

export const provide: Provide = (_platform, shapes) => {
  compareStrictly(assert)
  compareStrictly(assert.strict)
  return {
    assert: () => complete('assert', assert, shapes['assert']),
    'assert/strict': () => complete('assert/strict', assert.strict, shapes['assert/strict']),
  }
}

type Compare = (actual: unknown, expected: unknown, message?: string | Error) => void

/** The package takes values for equal whose difference is in no property, such as two addresses. */
function compareStrictly(given: typeof assert): void {
  const { deepStrictEqual, notDeepStrictEqual, deepEqual, strictEqual, equal } = given as unknown as Record<
    string,
    Compare
  >
  const compare: Compare = (actual, expected, message) => {
    deepStrictEqual!(actual, expected, message)
    if (isDeepStrictEqual(actual, expected)) return
    if (message instanceof Error) throw message
    throw new assert.AssertionError({ actual, expected, message, operator: 'deepStrictEqual' })
  }
  const compareNot: Compare = (actual, expected, message) => {
    if (isDeepStrictEqual(actual, expected)) notDeepStrictEqual!(actual, expected, message)
  }
  Object.assign(given, { deepStrictEqual: compare, notDeepStrictEqual: compareNot })
  // Of the strict form, in which both names are one function.
  if (equal === strictEqual && deepEqual === deepStrictEqual) {
    Object.assign(given, { deepEqual: compare, notDeepEqual: compareNot })
  }
}
