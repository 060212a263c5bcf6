import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { referToContent, withContents } from '#shared/llm/content-references.ts'

const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256))

/** A content that is read in parts of 7 bytes, which no base64 divides. */
const contentOf = (content: Buffer) => ({
  size: content.length,
  read: () =>
    Readable.from(Array.from({ length: Math.ceil(content.length / 7) }, (_, n) => content.subarray(n * 7, n * 7 + 7))),
})

const message = (list: string[]) => JSON.stringify({ text: 'Grüße', list: [...list, list[0]] })

test('a body has contents in base64 in the place of their references, and names its length', async () => {
  const contents = [bytes, bytes.subarray(0, 1), bytes.subarray(0, 2), bytes.subarray(0, 3), Buffer.alloc(0)]
  using held = new DisposableStack()
  const references = contents.map((content) => held.use(referToContent(contentOf(content))).reference)
  const expected = message(contents.map((content) => content.toString('base64')))
  const sent = withContents({ method: 'POST', headers: { 'x-key': 'a' }, body: message(references) })!
  expect(await text(sent.body as ReadableStream)).toBe(expected)
  expect(Object.fromEntries(sent.headers as Headers)).toEqual({
    'content-length': String(Buffer.byteLength(expected)),
    'x-key': 'a',
  })
})

test('a body without references is sent as it is, and so is a reference whose call has ended', () => {
  const ended = referToContent(contentOf(bytes))
  ended[Symbol.dispose]()
  for (const body of ['{}', JSON.stringify({ data: ended.reference })]) expect(withContents({ body })).toEqual({ body })
})

test('the end of a call closes a content that a request has not read to its end', async () => {
  const read = Readable.from([Buffer.from('abc'), Buffer.from('def')])
  const content = referToContent({ size: 6, read: () => read })
  const reader = (withContents({ body: `"${content.reference}"` })!.body as ReadableStream<Uint8Array>).getReader()
  for (const part of ['"', 'YWJj']) expect(Buffer.from((await reader.read()).value!).toString()).toBe(part)
  content[Symbol.dispose]()
  expect(read.destroyed).toBe(true)
})
