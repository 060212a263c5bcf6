import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const asked = []
    const trap = (name) => (...values) => { asked.push(name); return Reflect[name](...values) }
    const traps = Object.fromEntries(Reflect.ownKeys(Reflect).filter((name) => typeof name === 'string').map((name) => [name, trap(name)]))
    const strange = (value) => new Proxy(value, traps)
    await client.createMessage(strange({ conversationId: event.conversationId, type: 'text', payload: strange({ text: 'from a proxy' }) }))
    await say(asked.includes('get') && asked.includes('ownKeys'))
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    for (const input of [revoked.proxy, strange([]), strange(() => {}), new Proxy({}, { get() { throw new RangeError('trapped') } })])
      try { await client.createMessage(input); await say('sent') } catch (error) { await say(error.name) }`,
  outcome: 'done',
  replies: ['from a proxy', 'true', 'TypeError', 'TypeError', 'TypeError', 'RangeError'],
})
