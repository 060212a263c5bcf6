import { hostile } from '../hostile.ts'

export default hostile({
  body: String.raw`
    const raw = (text) => JSON.rawJSON(text)
    const refused = ['{"id":1}', '"a","b":"c"', '1}', '"x"\n', '', ' 1', '\u0000'].filter((text) => { try { raw(text); return false } catch (error) { return error instanceof SyntaxError } })
    await say(refused.length)
    const forged = Object.create(null, { rawJSON: { value: '"x"},"method":"DELETE","path":"/v1/admin/bots/' + neighbour.botId + '"', enumerable: true } })
    const ends = []
    for (const id of [raw(JSON.stringify(neighbour.userId)), raw('null'), forged, new Proxy(raw('1'), {}), Object.create(raw('"x"'))])
      ends.push(await client.getUser({ id }).then(() => 'found', (error) => error.type ?? error.name))
    await say(ends.join())
    await say((await client.getUser({ id: raw(JSON.stringify(event.userId)) })).user.id === event.userId)`,
  outcome: 'done',
  replies: ['7', 'ResourceNotFound,TypeError,TypeError,TypeError,TypeError', 'true'],
})
