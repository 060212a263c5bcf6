import assert from 'assert'
import { complete, type Provide } from '../provide.ts'

export const provide: Provide = (_platform, shapes) => ({
  assert: () => complete('assert', assert, shapes['assert']),
  'assert/strict': () => complete('assert/strict', assert.strict, shapes['assert/strict']),
})
