import { describe, expect, test } from 'vitest'
import { callRun, done, handlerThat } from '../fixture.ts'
import { sandboxOfFile, testAsInNode } from '../prelude/compare.ts'

const sandbox = sandboxOfFile()

const first = `const first = (error) => error.stack.split('\\n')[0]`

describe('the stack of an error begins as in Node', () => {
  testAsInNode(sandbox, [
    [
      'with a message that is set after the construction',
      `${first}
      const changed = new Error('one')
      changed.message = 'two: ' + changed.message
      class Late extends Error { constructor(message) { super(); this.name = 'Late'; this.message = message; Error.captureStackTrace(this, Late) } }
      class Lazy extends Error { constructor() { super(); Object.defineProperty(this, 'message', { get: () => 'read now' }) } }
      return [changed, new Late('three'), new Lazy()].map(first)`,
    ],
    [
      'with a name that is set after the construction, and stays once it has been read',
      `${first}
      class Named extends TypeError {}
      Named.prototype.name = 'Named'
      const read = new RangeError('read')
      first(read)
      read.message = 'changed'
      return [first(Object.assign(new Error('one'), { name: 'Other' })), first(new Named('two')), first(read)]`,
    ],
    [
      'of objects',
      `${first}
      const named = Object.assign(Object.create(null), { name: 'Plain', message: 'object' })
      Error.captureStackTrace(named)
      return first(named)`,
    ],
    [
      'where code formats stacks itself, and then no longer',
      `${first}
      const { prepareStackTrace } = Error
      Error.prepareStackTrace = (error, calls) => [error.message, Array.isArray(calls)]
      const own = new Error('own').stack
      Error.prepareStackTrace = prepareStackTrace
      const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')
      return [own, first(new Error('again')), typeof prepareStackTrace, writable, enumerable, configurable, new Error('a').stack.split('\\n')[1].startsWith('    at ')]`,
    ],
    [
      'with as many calls as the code wants',
      `const { stackTraceLimit } = Error
      const call = (depth) => (depth === 0 ? new Error('deep') : call(depth - 1))
      const lines = [0, 3, 20].map((limit) => { Error.stackTraceLimit = limit; return call(30).stack.split('\\n').length })
      Error.stackTraceLimit = stackTraceLimit
      return [lines, stackTraceLimit]`,
    ],
  ])
})

test('the stack of an error whose message throws can be read', async () => {
  const code = `const error = new Error('one')
    Object.defineProperty(error, 'message', { get() { throw new Error('two') } })
    return { body: error.stack.split('\\n')[0] }`
  expect(done(await sandbox().run(callRun(handlerThat(code)))).result).toMatchObject({ body: '<error>' })
})
