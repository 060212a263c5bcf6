import { duplexPair, PassThrough, type Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { openChannel, type ChannelOptions } from '#sandbox/protocol/channel.ts'

const frames = [
  { text: 'a' },
  { text: 'ä€🙂'.repeat(1000) },
  { text: 'b'.repeat(300_000) },
  { text: '' },
  { number: 1 },
]

test('frames arrive whole and in order, however their bytes are cut', async () => {
  const bytes = await bytesOf(frames)
  for (const length of [1, 3, 4, 5, 1000, 65_536, bytes.length]) {
    const { stream, received } = receiver()
    for (let start = 0; start < bytes.length; start += length) stream.write(bytes.subarray(start, start + length))
    await expect.poll(() => received).toEqual(frames)
  }
})

test('a frame does not change when its stream uses the memory of a chunk again', async () => {
  const bytes = await bytesOf(frames.slice(0, 2))
  const { stream, received } = receiver()
  for (let start = 0; start < bytes.length; start += 10) {
    const chunk = Buffer.from(bytes.subarray(start, start + 10))
    stream.emit('data', chunk)
    chunk.fill(0)
  }
  expect(received).toEqual(frames.slice(0, 2))
})

test('the first frame of a turn is written at once where that is wanted, and the others together', async () => {
  const stream = new PassThrough()
  const writes: number[] = []
  stream.on('data', (chunk: Buffer) => writes.push(chunk.length))
  const channel = openChannel(stream, { maximumBytes: 100, writesFirst: true, onFrame() {}, onBroken() {} })
  const written = () => writes.length + (stream.readableLength > 0 ? 1 : 0)
  channel.send({})
  expect(written()).toBe(1)
  channel.send({})
  channel.send({})
  expect(written()).toBe(1)
  await expect.poll(() => writes).toEqual([6, 12])
})

test.for([
  ['a frame above the maximum', Buffer.from([101, 0, 0, 0]), 'it sent a frame of 101 bytes'],
  ['a frame that is not JSON', Buffer.from([1, 0, 0, 0, 0x7b]), 'it sent a malformed frame'],
  ['a frame with a nested object', Buffer.from('\u0008\0\0\0{"a":{}}'), 'it sent a malformed frame'],
] as const)('%s ends the channel, and nothing after it is read', async ([, bytes, reason]) => {
  const broken: string[] = []
  const { stream, received } = receiver({
    maximumBytes: 100,
    flat: true,
    onBroken: (...why) => broken.push(why.join(', ')),
  })
  stream.write(Buffer.concat([await bytesOf([{ a: 1 }]), bytes, await bytesOf([{ a: 2 }])]))
  await expect.poll(() => broken).toEqual([`${reason}, breach`])
  expect(received).toEqual([{ a: 1 }])
})

function receiver(options: Partial<ChannelOptions> = {}): { stream: Duplex; received: unknown[] } {
  const [near, far] = duplexPair()
  const received: unknown[] = []
  const onFrame = (frame: unknown) => received.push(frame)
  openChannel(far, { maximumBytes: 1_000_000, onFrame, onBroken() {}, ...options })
  // Chunks that are emitted at the far end have passed no stream.
  return { stream: Object.assign(near, { emit: far.emit.bind(far) }), received }
}

async function bytesOf(sent: object[]): Promise<Buffer> {
  const [near, far] = duplexPair()
  const channel = openChannel(near, { maximumBytes: 1, onFrame() {}, onBroken() {} })
  const expected = sent.reduce((sum, frame) => sum + 4 + Buffer.byteLength(JSON.stringify(frame)), 0)
  const chunks: Buffer[] = []
  far.on('data', (chunk: Buffer) => chunks.push(chunk))
  for (const frame of sent) channel.send(frame)
  await expect.poll(() => Buffer.concat(chunks).length).toBe(expected)
  return Buffer.concat(chunks)
}
