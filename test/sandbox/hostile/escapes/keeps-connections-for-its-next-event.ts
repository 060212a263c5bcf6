import { hostile } from '../hostile.ts'

/** A connection ends with its event: the next one finds none of them, read or written. */
export default hostile({
  sdk: true,
  body: `
    const net = require('net')
    const kept = net.connect(servers.echo, '127.0.0.1')
    await require('events').once(kept, 'connect')
    kept.on('error', () => {}).on('data', () => {})
    setInterval(() => kept.write('still here'), 20)
    globalThis.kept = kept
    await say(kept.readyState)`,
  later: `
    const { kept: former } = globalThis
    former.write('late')
    const heard = await Promise.race([new Promise((resolve) => former.on('data', () => resolve('heard'))), new Promise((resolve) => setTimeout(resolve, 300, 'silence'))])
    await say(heard)`,
  outcome: 'done',
  upload: { limits: { cpuMilliseconds: 5000 } },
  replies: ['open'],
  laterReplies: ['silence'],
})
