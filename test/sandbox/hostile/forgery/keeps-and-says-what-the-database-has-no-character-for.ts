import { hostile } from '../hostile.ts'

export default hostile({
  body: String.raw`
    const ends = []
    const text = '\u0000 \ud800'
    for (const attempt of [
      () => say(text), () => client.createEvent({ type: text, payload: {} }), () => client.updateUser({ id: event.userId, name: text, tags: { [text]: text } }),
      () => client.setState({ type: 'user', id: event.userId, name: text, payload: { [text]: text } }), () => client.listUsers({ tags: { [text]: text } }), () => client.listMessages({ nextToken: text }),
    ]) ends.push(await attempt().then(() => 'done', (error) => error.code ?? error.name))
    await say(ends.join())
    state.user[text] = text`,
  later: `await say(Object.keys(state.user).length < 2)`,
  outcome: 'result',
  failure: /holds a character that cannot be stored/,
  replies: ['400,400,400,URIError,400,400'],
  laterReplies: ['true'],
})
