import { hostile } from '../hostile.ts'

export default hostile({
  code: `
    const asked = []
    const hook = ({ logger }) => { logger.info('asked %s', asked.length > 0) }
    const strange = (target) => new Proxy(target, {
      get(_, key) { asked.push(key); return target[key] },
      has() { return true },
      getOwnPropertyDescriptor: Reflect.getOwnPropertyDescriptor,
      ownKeys(value) { asked.push('keys'); return Reflect.ownKeys(value) },
      getPrototypeOf() { return null },
    })
    module.exports = strange({ hooks: strange({ afterIncomingMessage: strange([hook, strange(hook)]) }), actions: strange({}) })`,
  outcome: 'done',
  logs: [/^info: asked true$/, /^info: asked true$/],
})
