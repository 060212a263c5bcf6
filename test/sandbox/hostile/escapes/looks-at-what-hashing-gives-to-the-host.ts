import { hostile } from '../hostile.ts'

/** Large contents cross to the process around the isolate, in memory that code must not get hold of. */
export default hostile({
  sdk: true,
  before: `
    const crypto = require('crypto')
    const seen = new Set()
    const look = (value) => { if (typeof value === 'object' && value !== null) seen.add(Object.prototype.toString.call(value)); return value }
    const original = { set: Uint8Array.prototype.set, subarray: Uint8Array.prototype.subarray }
    const spy = () => {
      for (const name of Object.keys(original)) {
        Object.getPrototypeOf(Uint8Array.prototype)[name] = function (...values) {
          look(this.buffer)
          values.forEach(look)
          return Reflect.apply(original[name], this, values)
        }
      }
      for (const name of ['0', '1', 'length', 'buffer']) {
        Object.defineProperty(Object.prototype, name, { configurable: true, get() { look(this) }, set() { look(this) } })
      }
    }
    const stop = () => {
      for (const name of Object.keys(original)) Object.getPrototypeOf(Uint8Array.prototype)[name] = original[name]
      for (const name of ['0', '1', 'length', 'buffer']) delete Object.prototype[name]
    }`,
  body: `
    const content = new Uint8Array(2 ** 14)
    const expected = crypto.createHash('sha256').update(content).digest('hex')
    spy()
    let got
    try {
      const hash = crypto.createHash('sha256')
      hash.update(content)
      hash.copy()
      got = hash.digest('hex')
    } catch (error) {
      got = error.name
    } finally {
      stop()
    }
    const Native = Uint8Array
    const strange = []
    for (const replacement of [function () { return { length: 5 } }, class extends Array {}, class { constructor() { this.buffer = {} } set() {} }]) {
      globalThis.Uint8Array = replacement
      try {
        crypto.createHash('sha256').update(content).digest('hex')
      } catch (error) {
        strange.push(typeof error.message)
      } finally {
        globalThis.Uint8Array = Native
      }
    }
    await say(got === expected)
    await say([...seen].some((name) => name.includes('Shared')))
    await say(strange.every((type) => type === 'string'))
    await say(crypto.createHash('sha256').update(content).digest('hex') === expected)`,
  outcome: 'done',
  replies: ['true', 'false', 'true', 'true'],
  never: /Shared/,
})
