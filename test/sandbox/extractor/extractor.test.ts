import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Extractor, Passage } from '#sandbox/extractor/contract.ts'
import { makeDocx, makePdf } from '../../support/documents.ts'
import { extractWith, openExtractorHere } from '../../support/extractor.ts'

let extractor: Extractor
beforeAll(async () => {
  extractor = await openExtractorHere()
})
afterAll(() => extractor.close())

const html = `<!doctype html><head><title>Ignored</title><script>alert('script')</script><style>p { color: red }</style></head>
  <body><nav>Home</nav><h1>Handbook</h1><p>First <b>bold</b>   words.</p><h2>Prices</h2>
  <table><tr><th>Item<th>Price<tr><td>Tea<td>3 €</table><ul><li>one<li>two</ul><pre>a
  b</pre><noscript>hidden</noscript><img alt="A chart"></body>`
const markdown = `---
title: Front matter
---
# Handbook

First *emphasised* words with a [link](https://example.com).

## Prices

| Item | Price |
| ---- | ----- |
| Tea  | 3 €   |

- one
- two

\`\`\`js
a
  b
\`\`\`

<details>Shown <script>alert('script')</script></details>
`

const heading = (level: number, text: string) =>
  `<w:p><w:pPr><w:pStyle w:val="Heading${level}"/></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`

describe('documents become passages under their headings', () => {
  test('HTML, without its scripts and styles', async () => {
    expect(await extractWith(extractor, 'html', html)).toEqual([
      { subtype: 'paragraph', text: 'Home', breadcrumb: [] },
      { subtype: 'paragraph', text: 'First bold words.', breadcrumb: ['Handbook'] },
      { subtype: 'table', text: 'Item | Price\nTea | 3 €', breadcrumb: ['Handbook', 'Prices'] },
      { subtype: 'list', text: '- one\n- two', breadcrumb: ['Handbook', 'Prices'] },
      { subtype: 'code', text: 'a\n  b', breadcrumb: ['Handbook', 'Prices'] },
      { subtype: 'paragraph', text: 'A chart', breadcrumb: ['Handbook', 'Prices'] },
    ])
  })

  test('Markdown, with tables and HTML in it', async () => {
    expect(await extractWith(extractor, 'markdown', markdown)).toEqual([
      { subtype: 'paragraph', text: 'First emphasised words with a link.', breadcrumb: ['Handbook'] },
      { subtype: 'table', text: 'Item | Price\nTea | 3 €', breadcrumb: ['Handbook', 'Prices'] },
      { subtype: 'list', text: '- one\n- two', breadcrumb: ['Handbook', 'Prices'] },
      { subtype: 'code', text: 'a\n  b', breadcrumb: ['Handbook', 'Prices'] },
      { subtype: 'paragraph', text: 'Shown', breadcrumb: ['Handbook', 'Prices'] },
    ])
  })

  test('PDF, with its pages', async () => {
    const pages = [
      ['Handbook', 'The first line of a para-', 'graph and its second line.'],
      ['More', 'Text of page two.'],
    ]
    expect(await extractWith(extractor, 'pdf', makePdf(pages))).toEqual([
      {
        subtype: 'paragraph',
        text: 'The first line of a paragraph and its second line.',
        breadcrumb: ['Handbook'],
        pageNumber: 1,
      },
      { subtype: 'paragraph', text: 'Text of page two.', breadcrumb: ['More'], pageNumber: 2 },
    ])
  })

  test('Word, with its headings', async () => {
    const document = makeDocx(
      `${heading(1, 'Handbook')}${heading(2, 'Prices')}<w:p><w:r><w:t>Tea: 3 €</w:t></w:r></w:p>`,
    )
    expect(await extractWith(extractor, 'docx', document)).toEqual([
      { subtype: 'paragraph', text: 'Tea: 3 €', breadcrumb: ['Handbook', 'Prices'] },
    ])
  })

  test('text in UTF-16 and in Windows-1252', async () => {
    const plain = Buffer.from('Grüße', 'utf16le')
    const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), plain])
    const swapped = Buffer.from(plain).swap16()
    for (const document of [wide, plain, swapped, Buffer.from('Grüße', 'latin1'), Buffer.from('Grüße')]) {
      expect(await extractWith(extractor, 'text', document)).toEqual([
        { subtype: 'paragraph', text: 'Grüße', breadcrumb: [] },
      ])
    }
  })

  test('text in the encoding that its content type or the page declares, if it is not in UTF-8', async () => {
    const cyrillic = Buffer.from([0xcc, 0xe8, 0xf0])
    const mir = [{ subtype: 'paragraph', text: 'Мир', breadcrumb: [] }]
    expect(await extractWith(extractor, 'text', cyrillic, { charset: 'windows-1251' })).toEqual(mir)
    for (const head of [
      '<meta charset="windows-1251"><p>',
      '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>',
      '<?xml version="1.0" encoding="windows-1251"?><p>',
    ]) {
      expect(await extractWith(extractor, 'html', Buffer.concat([Buffer.from(head), cyrillic]))).toEqual(mir)
      expect(await extractWith(extractor, 'html', `${head}Мир`)).toEqual(mir)
    }
    for (const charset of ['utf-8', 'no-such-encoding']) {
      expect(await extractWith(extractor, 'text', Buffer.from('Grüße', 'latin1'), { charset })).toEqual([
        { subtype: 'paragraph', text: 'Grüße', breadcrumb: [] },
      ])
    }
  })

  test('MDX without its imports and exports, which sentences with the same first word are not', async () => {
    const statements = "import a, { b } from './c'\n\nexport const d = {}\n\nexport { a }\n\nimport './e.css'\n\n"
    const sentences = 'export prices (in francs) are lower\n\nimport = customs, "duties" and (other) fees'
    const passages = (await extractWith(extractor, 'markdown', statements + sentences)) as Passage[]
    expect(passages.map(({ text }) => text)).toEqual([sentences.replace('\n\n', '\n')])
  })
})

describe('passages have the lengths that are asked for', () => {
  const chunking = { minimumParagraphLength: 50, maximumChunkLength: 120 }
  const lengthsOf = async (document: string) => {
    const passages = (await extractWith(extractor, 'markdown', document, { chunking })) as Passage[]
    return passages.map(({ text }) => text)
  }

  test('short paragraphs of one heading are merged, and those of different headings are not', async () => {
    expect(await lengthsOf('# A\n\none\n\ntwo\n\n# B\n\nthree')).toEqual(['one\ntwo', 'three'])
  })

  test('a long paragraph is split at the ends of sentences, and nothing of it is lost', async () => {
    const sentences = Array.from({ length: 12 }, (_, index) => `Sentence number ${index} has some words.`)
    const texts = await lengthsOf(sentences.join(' '))
    for (const text of texts) {
      expect(text.length).toBeLessThanOrEqual(120)
      expect(text).toMatch(/^Sentence .*\.$/)
    }
    expect(texts.join(' ')).toBe(sentences.join(' '))
  })

  test('a text without spaces is cut', async () => {
    const texts = await lengthsOf('😀'.repeat(200))
    expect(texts.join('')).toBe('😀'.repeat(200))
    expect(texts.every((text) => text.length <= 120)).toBe(true)
  })

  test('a heading without text is a passage', async () => {
    expect(await lengthsOf('# A\n\n## B\n\ntext\n\n# C')).toEqual(['text', 'C'])
  })

  test('a table that is too long is split at its rows', async () => {
    const rows = Array.from({ length: 20 }, (_, index) => `| row ${index} | value |`)
    const texts = await lengthsOf(['| a | b |', '| - | - |', ...rows].join('\n'))
    expect(texts.flatMap((text) => text.split('\n'))).toHaveLength(21)
  })
})
