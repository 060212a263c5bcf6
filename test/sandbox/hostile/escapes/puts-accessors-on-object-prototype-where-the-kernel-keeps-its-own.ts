import { hostile } from '../hostile.ts'
import { spying } from '../spying.ts'

export default hostile({
  before: spying,
  body: `
    for (const name of ['id', 'name', 'limits', 'shared', 'hostCalls', 'fetches', 'streams', 'ended', 'pendingOperations', 'onQuiet', 'resume', 'state', 'status', 'body', 'message', 'metadata',
      'run', 'bot', 'client', 'logger', 'request', 'resolve', 'reject', 'send', 'call', 'handler', 'milliseconds', 'length', 'kind', 'stages', 'task', 'finally', 'within', 'get', 'value', 'hook', 'stack', 'cause', 'level', 'timers', 'event', 'data', 'stop', '0', '1'])
      Object.defineProperty(Object.prototype, name, { __proto__: null, configurable: true, get() { look(this); return undefined }, set(value) { look(this, value); Object.defineProperty(this, name, { __proto__: null, value, writable: true, configurable: true, enumerable: true }) } })
    void event.nothing; void ({}).limits
    await work({ event, client, state, logger })
    for (const name of Object.getOwnPropertyNames(Object.prototype)) if (Object.getOwnPropertyDescriptor(Object.prototype, name).set?.toString().includes('look')) delete Object.prototype[name]
    await say(looks > 0)
    await say(caught)`,
  outcome: 'done',
  replies: ['true', 'nothing'],
})
