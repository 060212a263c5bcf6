import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const caught = []
    const attempts = [
      () => client.getUser({ id: 'nobody' }), () => client.getUser({}), () => client.getUser(1n), () => client.createMessage({}), () => client.getUser({ id: 'x'.repeat(3_000_000) }), () => fetch('http://127.0.0.1/'), () => fetch('http://'), () => import(['node', 'fs'].join(':')),
      () => require(['f', 's'].join('')), () => setTimeout(), () => queueMicrotask(), () => structuredClone(() => {}), () => new URL('no'), () => crypto.getRandomValues([]), () => client.streamMessage(7), () => atob('*'), () => new Headers({ '\\n': '' }), () => Intl.Collator('no locale'), () => Reflect.ownKeys(1),
    ]
    for (const attempt of attempts) {
      try { await attempt() } catch (error) { caught.push(error) }
    }
    const found = new Set()
    for (const error of caught) {
      for (let at = error; at !== null; at = Object.getPrototypeOf(at)) {
        if (at !== error && !Object.values(Object.getOwnPropertyDescriptors(globalThis)).some(({ value }) => value?.prototype === at)) found.add('a foreign prototype of ' + error.name)
        found.add(at.constructor.constructor('return typeof process + (this === globalThis)')())
      }
      for (const key of Reflect.ownKeys(error)) if (typeof error[key] === 'function') found.add('a function at ' + String(key))
    }
    await say([...found].join())
    await say(caught.length)`,
  outcome: 'done',
  replies: ['undefinedtrue', '19'],
})
