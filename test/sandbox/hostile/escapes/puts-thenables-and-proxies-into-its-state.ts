import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const seen = []
    state.user.thenable = { then(resolve) { seen.push('then'); resolve('resolved') }, kept: 1 }
    state.user.promise = Promise.resolve(1)
    state.conversation = new Proxy({ proxied: true }, { getOwnPropertyDescriptor: Reflect.getOwnPropertyDescriptor })
    event.state.bot = { get computed() { return 'read' }, toString() { return 'never' } }
    await say(seen.length)`,
  later: `await say(JSON.stringify([state.user, state.conversation, state.bot]))`,
  outcome: 'done',
  replies: ['0'],
  laterReplies: ['[{"promise":{},"thenable":{"kept":1}},{"proxied":true},{"computed":"read"}]'],
})
