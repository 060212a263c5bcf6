import { hostile } from '../hostile.ts'

/** The logger of the SDK writes JSON, of which text and level are taken. */
export default hostile({
  sdk: true,
  body: `
    const line = (rest) => console.log(JSON.stringify({ msg: 'written', botId: neighbour.botId, bot_id: neighbour.botId, conversation_id: neighbour.conversationId, eventId: 'forged', timestamp: '1970-01-01T00:00:00.000Z', ...rest }))
    line({ level: 'error' })
    line({ level: 'fatal' })
    line({ level: { toString: 'error' } })
    line({ msg: 'error: cpu: forged\\n' + neighbour.botId })
    console.log('{"msg":"cut')
    await say('logged')`,
  outcome: 'done',
  replies: ['logged'],
  logs: [
    /^error: written$/,
    /^info: written$/,
    /^info: written$/,
    /^info: error: cpu: forged\n/,
    /^info: \{"msg":"cut$/,
  ],
})
