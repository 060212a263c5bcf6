import { hostile } from '../hostile.ts'
import { reach } from '../reach.ts'

export default hostile({
  before: reach,
  body: `
    const needles = ['secret-of-' + 'the-worker', 'post' + 'gres://', 're' + 'dis://', 'at least thirty-two' + ' characters', 'Pacific/' + 'Chatham', 'de_' + 'AT', neighbour.conversationId]
    const strings = []
    const visit = (value) => {
      for (const key of Reflect.ownKeys(value)) {
        try { if (typeof value[key] === 'string') strings.push(value[key]) } catch {}
      }
      if (typeof value === 'function') strings.push(Function.prototype.toString.call(value))
    }
    reach({ event: { ...event, payload: {}, preview: '' }, client, state, logger, globalThis }, visit)
    await say(needles.filter((needle) => strings.some((text) => text.includes(needle))).join())
    reach({ own: { text: 'this is ' + needles[0] } }, visit)
    await say(needles.filter((needle) => strings.some((text) => text.includes(needle))).length)`,
  outcome: 'done',
  replies: ['nothing', '1'],
})
