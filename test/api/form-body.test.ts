import { describe, expect, test } from 'vitest'
import { FormFile } from '#shared/rpc/form-file.ts'
import { parseForm } from '../../api/form-body.ts'

const form = { fileField: 'file', maxBytes: 1024 }
const type = 'multipart/form-data; boundary=b'
const parse = (text: string, given = type) => parseForm([Buffer.from(text)], given, form)
const field = (name: string, content: string, more = '') =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`

describe('a form', () => {
  test('has texts, lists and one file, as the web platform writes them', async () => {
    const written = new FormData()
    written.append('model', 'mödel')
    written.append('file', new File(['--b\r\n\0'], 'a b.mp3', { type: 'audio/mpeg' }))
    written.append('kinds[]', 'one')
    written.append('kinds[]', 'two')
    const response = new Response(written)
    const bytes = Buffer.from(await response.arrayBuffer())
    const file = new FormFile('a b.mp3', 'audio/mpeg', Buffer.from('--b\r\n\0'))
    expect(await parseForm([bytes], response.headers.get('content-type')!, form)).toEqual({
      model: 'mödel',
      file,
      kinds: ['one', 'two'],
    })
  })

  test('has names without quotes, a preamble, and a boundary in quotes', async () => {
    const text = 'for old programs\r\n--b c\r\ncontent-disposition: form-data; name=model\r\n\r\n\r\n--b c--'
    expect(await parse(text, 'Multipart/Form-Data; charset=utf-8; boundary="b c"')).toEqual({ model: '' })
    expect(await parse('--b--')).toEqual({})
  })

  test.each([
    ['no name', '--b\r\nContent-Disposition: form-data; filename="name=x"\r\n\r\nx\r\n--b--'],
    ['no head', '--b\r\nx\r\n--b--'],
    ['a head without an end', `--b\r\n${'x'.repeat(100_000)}\r\n\r\nx\r\n--b--`],
  ])('has no field where a part has %s', async (_what, text) => {
    expect(await parse(text)).toEqual({})
  })

  test('sets no prototype', async () => {
    const parsed = await parse(`${field('__proto__', 'x')}--b--`)
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
  })

  test.each([
    ['has no end', field('model', 'x')],
    ['has no begin', 'model=x'],
    ['is empty', ''],
    ['has a field twice', `${field('model', 'x')}${field('model', 'y')}--b--`],
    ['has too many fields', `${Array.from({ length: 33 }, (_, index) => field(`f${index}`, '')).join('')}--b--`],
    ['has too long a text', `${field('model', 'x'.repeat(300_000))}--b--`],
  ])('that %s is refused', async (_what, text) => {
    await expect(parse(text)).rejects.toThrow(expect.objectContaining({ type: 'InvalidPayload' }))
  })

  test.each(['application/json', 'multipart/form-data', ''])('is not of the type %j', async (given) => {
    await expect(parse('--b--', given)).rejects.toThrow(expect.objectContaining({ type: 'UnsupportedMediaType' }))
  })
})

test('a file in a log or a comparison is a hash', () => {
  const text = JSON.stringify(new FormFile('a.mp3', 'audio/mpeg', Buffer.from('secret words')))
  expect(text).not.toContain('secret')
  expect(text).not.toBe(JSON.stringify(new FormFile('a.mp3', 'audio/mpeg', Buffer.from('other words'))))
})
