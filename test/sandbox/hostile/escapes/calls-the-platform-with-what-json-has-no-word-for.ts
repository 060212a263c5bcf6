import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const circle = {}
    circle.circle = circle
    const inputs = [circle, 1n, { id: 1n }, Symbol('id'), { id: Symbol('id') }, () => {}, null, 'text', 7, [], new Map([['id', 'x']]), { id: { toString: () => 'x' } }, { id: ['x'] }, new (class { id = {} })(), { toJSON: () => 7 }, { toJSON() { throw new TypeError('no') } }]
    const ends = []
    for (const input of inputs) ends.push(await client.getUser(input).then(() => 'found', (error) => error.name))
    await say(ends.join())
    await say((await client.getUser({ id: event.userId })).user.id === event.userId)`,
  outcome: 'done',
  replies: [
    'TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError',
    'true',
  ],
})
