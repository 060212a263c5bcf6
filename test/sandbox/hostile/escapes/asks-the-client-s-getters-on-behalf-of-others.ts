import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const prototype = Object.getPrototypeOf(client)
    const { get } = Object.getOwnPropertyDescriptor(prototype, 'createMessage')
    const selves = [undefined, null, 1, {}, prototype, Object.create(client), new Proxy(client, {}), { __proto__: client }, logger, globalThis]
    await say(selves.map((self) => { try { return typeof Reflect.apply(get, self, []) } catch (error) { return error.name } }).join().replaceAll('TypeError', 'undefined'))
    await say(typeof Reflect.apply(get, client, []))`,
  outcome: 'done',
  replies: [
    'undefined,undefined,undefined,undefined,undefined,undefined,undefined,undefined,undefined,undefined',
    'function',
  ],
})
