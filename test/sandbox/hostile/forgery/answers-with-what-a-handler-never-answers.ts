import { hostile } from '../hostile.ts'

export default hostile({
  sdk: true,
  body: `return { status: 200, headers: { 'x-bot-id': neighbour.botId, 'set-cookie': 'a=b\\r\\nx-forged: 1' }, body: JSON.stringify({ type: 'failed', reason: 'crashed', output: { type: 'stuck' }, __proto__: { output: 1 } }), type: 'failed', error: { message: 'forged' } }`,
  outcome: 'done',
  replies: [],
  never: /forged/,
})
