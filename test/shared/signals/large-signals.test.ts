import { expect, test } from 'vitest'
import { notify, storeLargeSignal } from '#shared/store/signals.ts'
import { openPlatform } from '../../support/platform.ts'

/** A signal of this length as JSON. */
const whole = (length: number) => JSON.stringify({ text: 'x'.repeat(length - '{"text":""}'.length) })

test('signals that come while a large one is read are delivered after it, and those of other topics at once', async () => {
  await using platform = await openPlatform({ backEnd: 'postgres', worker: false })
  const { db, signals } = platform.context
  const delivered: string[] = []
  for (const topic of ['one', 'other']) {
    await signals.subscribe(topic, (signal) => delivered.push(`${topic} ${JSON.stringify(signal).length}`))
  }
  const large = async (length: number) => ({ channel: 'one', payload: await storeLargeSignal(db, whole(length)) })
  await notify(db, [
    await large(20_000),
    { channel: 'one', payload: whole(20) },
    await large(10_000),
    { channel: 'one', payload: whole(30) },
    { channel: 'other', payload: whole(40) },
  ])
  await expect.poll(() => delivered).toHaveLength(5)
  expect(delivered).toEqual(['other 40', 'one 20000', 'one 20', 'one 10000', 'one 30'])

  // Nothing waits any more.
  await notify(db, [{ channel: 'one', payload: whole(50) }])
  await expect.poll(() => delivered.at(-1)).toBe('one 50')
})
