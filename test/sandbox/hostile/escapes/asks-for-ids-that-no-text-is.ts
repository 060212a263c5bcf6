import { hostile } from '../hostile.ts'

export default hostile({
  body: String.raw`
    const codes = new Set()
    for (const id of ['\u0000', '\ud800', 'x'.repeat(100_000), true, 0, -1, 1e400, NaN])
      await client.getUser({ id }).then(() => codes.add('found ' + id), (error) => codes.add(error.code ?? error.name))
    await say([...codes].every((code) => [400, 404, 'TypeError', 'URIError'].includes(code)))
    await say(codes.size > 0 && [...codes].sort().join())`,
  outcome: 'done',
  replies: ['true', '400,404,TypeError,URIError'],
})
