import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const pending = []
    const bottom = () => { try { bottom() } catch { pending.push(client.getUser({ id: event.userId })) } }
    for (let n = 0; n < 3; n += 1) try { bottom() } catch {}
    const ends = await Promise.allSettled(pending)
    await say(ends.every(({ status, reason }) => status === 'fulfilled' || reason.constructor === RangeError || reason.name === 'ApiError'))`,
  outcome: 'done',
  replies: ['true'],
})
