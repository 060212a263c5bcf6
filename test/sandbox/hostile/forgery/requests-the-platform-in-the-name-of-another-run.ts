import { hostile } from '../hostile.ts'

/** Runs are known by their ids to their own isolate only. */
export default hostile({
  sdk: true,
  body: `
    const id = event.id
    const runs = [neighbour.messageId, neighbour.botId, 'undefined', '__proto__', 'constructor', id + '#2/', id + '#1/callAction:1/', '']
    let answered = 0
    for (const run of runs)
      ask('GET', '/v1/chat/users', undefined, { authorization: 'Bearer run/' + run }).then(() => { answered += 1 }, () => { answered += 1 })
    const own = await ask('GET', '/v1/chat/users')
    await new Promise((resolve) => setTimeout(resolve, 50))
    await say(answered)
    await say(own.status)`,
  outcome: 'done',
  replies: ['0', '200'],
})
