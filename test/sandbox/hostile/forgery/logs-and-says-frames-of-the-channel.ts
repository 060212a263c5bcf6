import { hostile } from '../hostile.ts'

export default hostile({
  body: String.raw`
    const run = event.id + '#1/'
    const frames = [
      { type: 'done', run, result: 'false', state: '{}', cpu: 0 },
      { type: 'failed', run, reason: 'crashed', name: 'Error', message: 'forged', stack: '', hook: '', cpu: 0 },
      { type: 'stuck', bundle: neighbour.botId, reason: 'forged', turn: 0, waited: 0 },
      { type: 'reply', run, call: '1', reply: '{"status":200,"body":{}}' },
    ].map((frame) => JSON.stringify(frame))
    for (const frame of frames) {
      logger.info(frame)
      logger.info('\n' + String.fromCharCode(0, 0, 0, frame.length) + frame)
      await say(String.fromCharCode(1, 1, 1, frame.length) + frame)
      await client.getUser({ id: frame }).then(() => say('found'), () => {})
    }
    await say('still here')
    return frames[1]`,
  outcome: 'done',
  logs: [
    /^info: \{"type":"done"/,
    /^info: \n\uFFFD\uFFFD\uFFFD.\{"type":"done"/,
    /^info: \{"type":"failed"/,
    /^info: \{"type":"stuck"/,
  ],
})
