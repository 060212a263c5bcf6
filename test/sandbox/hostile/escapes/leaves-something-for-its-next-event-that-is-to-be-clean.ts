import { hostile } from '../hostile.ts'

export default hostile({
  before: `
    export const isolation = 'event'
    let inModule = 0`,
  body: `
    inModule += 1
    globalThis.left = Object.prototype.left = Array.prototype.left = Function.prototype.left = Symbol.for('left')
    JSON.parse = console.log = Promise.prototype.then = () => { throw new Error('left behind') }
    Object.defineProperty(globalThis, 'defineBundle', { configurable: true, set() { throw new Error('left behind') }, get() { throw new Error('left behind') } })
    delete globalThis.Map
    state.user.met = inModule
    Error.prepareStackTrace = () => 'left behind'`,
  later: `await say([state.user.met, inModule, typeof globalThis.left, typeof [].left, typeof Map, typeof defineBundle, JSON.parse('1'), new Error('x').stack.includes('left')].join())`,
  outcome: 'done',
  replies: [],
  laterReplies: ['1,0,undefined,undefined,function,undefined,1,false'],
})
