import { expect, test } from 'vitest'
import { legibleName, sentFileName } from '#shared/chat-client/sent-file-name.ts'

test('a name that fits is sent as it is', () => {
  for (const name of ['résumé 100% #1?.pdf', '写真.jpg', '👩‍👩‍👧.png', 'README']) expect(sentFileName(name)).toBe(name)
})

test('a long name keeps its extension, and no character of it is cut in two', () => {
  expect(sentFileName(`${'a'.repeat(300)}.tar`)).toBe(`${'a'.repeat(196)}.tar`)
  expect(sentFileName(`${'😀'.repeat(300)}.png`)).toBe(`${'😀'.repeat(196)}.png`)
  expect(sentFileName('b'.repeat(300))).toBe('b'.repeat(200))
  expect(sentFileName(`a.${'b'.repeat(300)}`)).toBe(`a.${'b'.repeat(198)}`)
})

test('characters that no name needs, and those that show it in another order, are left out', () => {
  expect(sentFileName('invoice\u202Egnp.exe')).toBe('invoicegnp.exe')
  expect(sentFileName('two\nlines\u0000.txt')).toBe('twolines.txt')
  expect(sentFileName('\uD800.txt')).toBe('\uFFFD.txt')
  expect(sentFileName('\u202E')).toBe('file')
  expect(legibleName('\u2067a\u2069')).toBe('a')
})
