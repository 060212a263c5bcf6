import { hostile } from '../hostile.ts'

/** The result of a hook is data: its field names mean nothing to the platform. */
export default hostile({
  body: `
    await say('returning')
    return { type: 'failed', status: 'failed', reason: 'crashed', error: { name: 'Error', message: 'forged' }, hook: 'forged', cpuMilliseconds: -1e9, logs: [{ timestamp: 'never', level: 'error', message: 'forged' }] }`,
  outcome: 'done',
  replies: ['returning'],
  never: /forged/,
})
