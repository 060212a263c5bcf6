import { hostile } from '../hostile.ts'
import { reach } from '../reach.ts'

export default hostile({
  sdk: true,
  before: reach,
  body: `
    const modules = [require('fs'), require('http'), require('https'), require('stream'), require('crypto'), require('util'), require('vm'), require('module'), require('child_process'), require('worker_threads'), require('process'), require('async_hooks'), require('v8'), require('inspector'), require('os')]
    const request = require('http').request('http://127.0.0.1:1/')
    const failure = await new Promise((resolve) => request.on('error', resolve).end())
    const found = new Set()
    const count = reach({ modules, request, failure, require }, (value) => {
      for (const maker of [value.constructor, value.constructor?.constructor, Object.getPrototypeOf(value)?.constructor]) {
        if (typeof maker !== 'function') continue
        try {
          const made = maker('return [typeof process?.binding, typeof process?.mainModule, typeof _ivm, globalThis === this].join()')
          if (typeof made === 'function') found.add(made())
        } catch {}
      }
    })
    await say([...found].filter((text) => typeof text === 'string').join(' | '))
    await say(count > 500)
    await say(require('os').hostname() + ' ' + Object.keys(require('os').networkInterfaces()).length)`,
  outcome: 'done',
  replies: ['function,undefined,undefined,true', 'true', 'localhost 0'],
})
