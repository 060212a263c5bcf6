import { hostile } from '../hostile.ts'

export default hostile({
  code: `
    exports.hooks = new Proxy({ afterIncomingMessage() {} }, new Proxy({}, { get(_, trap) { throw new RangeError('trapped ' + trap) } }))`,
  outcome: 'refused',
  failure: /trapped|hooks/,
})
