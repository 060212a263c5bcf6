import { hostile } from '../hostile.ts'
import { reach } from '../reach.ts'

export default hostile({
  sdk: true,
  before: reach,
  body: `
    const fetchUser = () => fetch(process.env.BP_API_URL + '/v1/chat/users/' + event.userId)
    const response = await fetchUser()
    const failure = await fetch('http://127.0.0.1/').catch((error) => error)
    const request = new Request('https://example.com/', { method: 'POST', body: 'x' })
    const json = await (await fetchUser()).json()
    const bytes = await (await fetchUser()).arrayBuffer()
    const blob = await (await fetchUser()).blob()
    const found = new Set()
    const count = reach({ response, headers: response.headers, body: response.body, entries: response.headers.entries(), failure, cause: failure.cause, request, json, bytes, blob, process, require, exports }, (value) => {
      for (const maker of [value.constructor, value.constructor?.constructor, Object.getPrototypeOf(value)?.constructor]) {
        if (typeof maker !== 'function') continue
        try {
          const made = maker('return [typeof process?.binding, typeof process?.mainModule, typeof _ivm, globalThis === this].join()')
          if (typeof made === 'function') found.add(made())
        } catch {}
      }
    })
    await say([...found].filter((text) => typeof text === 'string').join(' | '))
    await say(count > 100)`,
  outcome: 'done',
  replies: ['function,undefined,undefined,true', 'true'],
})
