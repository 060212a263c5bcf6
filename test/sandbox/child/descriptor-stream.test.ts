import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { openChannel } from '#sandbox/protocol/channel.ts'

/** Answers each frame with many long ones, more than a socket holds. */
const program = `
  import { openDescriptor } from '#sandbox/child/descriptor-stream.ts'
  import { openChannel } from '#sandbox/protocol/channel.ts'
  const channel = openChannel(openDescriptor(3), {
    maximumBytes: 10_000_000,
    writesFirst: true,
    onFrame: ({ count, length, text }) => {
      for (let index = 0; index < count; index += 1) channel.send({ index, text: text.slice(0, length) })
    },
    onBroken: (reason) => process.exit(reason === 'the channel ended' ? 0 : 1),
  })
`

test('frames that the other side does not read yet arrive later, in order, and the end of the channel is noticed', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const exited = once(child, 'exit')
  const stream = child.stdio[3] as Duplex
  const received: { index: number; text: string }[] = []
  const channel = openChannel(stream, {
    maximumBytes: 10_000_000,
    onFrame: (frame) => received.push(frame as (typeof received)[0]),
    onBroken() {},
  })
  const text = 'x€'.repeat(200_000)
  stream.pause()
  channel.send({ count: 100, length: 50_000, text })
  channel.send({ count: 3, length: 10, text })
  // A paused stream reads until its buffer is full; the socket's is full by then.
  await expect.poll(() => stream.readableLength).toBeGreaterThan(0)
  stream.resume()
  await expect.poll(() => received.length, { timeout: 20_000 }).toBe(103)
  const expected = [
    ...Array.from({ length: 100 }, (_, index) => ({ index, text: text.slice(0, 50_000) })),
    ...Array.from({ length: 3 }, (_, index) => ({ index, text: text.slice(0, 10) })),
  ]
  expect(received).toEqual(expected)
  stream.end()
  expect(await exited).toEqual([0, null])
})
