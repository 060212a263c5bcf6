import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ExtractorError, type DocumentFormat, type Extractor } from '#sandbox/extractor/contract.ts'
import { detectIsolation } from '#sandbox/isolation/detect-isolation.ts'
import { joinPdf, makeDocx, makePdf, makeZip } from '../../support/documents.ts'
import { extractWith, openExtractorHere, openProgramInPlaceOfExtractor } from '../../support/extractor.ts'
import { sandboxesOf } from '../../support/sandbox-processes.ts'

// Around the process there are none of the kernel's isolation layers, as where a machine allows none.
let extractor: Extractor
beforeAll(async () => {
  extractor = await openExtractorHere({ seconds: 3, memoryMegabytes: 400 })
})
afterAll(() => extractor.close())

const megabyte = 1024 * 1024
const exceeded = expect.stringMatching(/^Reading the document takes more than .* \(EXTRACT_(?:SECONDS|MEMORY)\): split/)
const unreadable = expect.stringMatching(/^The (?:file|document) (?:is not|cannot be|is nested)/)
/** A slow machine reaches the limit of time first. */
const tooLong = expect.stringMatching(/^The document has more than 5000 passages: split it$|EXTRACT_SECONDS/)
/** Refused by whichever limit it meets first, depending on the machine. */
const refused = expect.any(String)

const run = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`

/** A PDF whose page has a content that unpacks to this size. */
function bombPdf(bytes: number): Buffer {
  const packed = deflateSync(Buffer.alloc(bytes, '(word) Tj '), { level: 9 })
  const stream = Buffer.concat([
    Buffer.from(`<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`),
    packed,
    Buffer.from('\nendstream'),
  ])
  return joinPdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> >> >>',
    stream,
  ])
}

const cases: [string, DocumentFormat, () => string | Uint8Array, unknown][] = [
  ['a PDF whose page unpacks to 150 MB', 'pdf', () => bombPdf(150 * megabyte), refused],
  [
    'a PDF of 3,000 pages',
    'pdf',
    () => makePdf(Array.from({ length: 3000 }, () => ['a'])),
    expect.stringMatching(/3000 pages, and 2000/),
  ],
  [
    'a PDF that is its own page tree',
    'pdf',
    () => joinPdf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000 >>']),
    refused,
  ],
  [
    'a PDF of nested arrays',
    'pdf',
    () =>
      joinPdf([`<< /Type /Catalog /Pages 2 0 R /A ${'['.repeat(200_000)} >>`, '<< /Type /Pages /Kids [] /Count 0 >>']),
    expect.anything(),
  ],
  ['text that calls itself PDF', 'pdf', () => 'hello', unreadable],
  [
    'a Word document whose text unpacks to 500 MB',
    'docx',
    () => makeDocx(run('a'.repeat(500 * megabyte))),
    'The text of the Word document has more than 64 MB unpacked',
  ],
  [
    'one that states a smaller size',
    'docx',
    () => makeZip({ 'word/document.xml': Buffer.alloc(300 * megabyte, 'a') }, 1000),
    'The text of the Word document has more than 64 MB unpacked',
  ],
  [
    'a Word document of 20,000 parts',
    'docx',
    () => makeZip(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`a${index}.xml`, '']))),
    expect.stringContaining('more than 5000 parts'),
  ],
  [
    'a Word document nested deep',
    'docx',
    () => makeDocx(`${'<w:sdt><w:sdtContent>'.repeat(50_000)}${run('a')}${'</w:sdtContent></w:sdt>'.repeat(50_000)}`),
    refused,
  ],
  [
    'a Word document with entities',
    'docx',
    () =>
      makeDocx('', {
        'word/document.xml': '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><a>&b;</a>',
      }),
    expect.anything(),
  ],
  [
    'a Word document that names a file as an entity',
    'docx',
    () => makeDocx('', { 'word/document.xml': '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>' }),
    'The file is not a readable Word document (.docx): entity not found:&x;',
  ],
  ['a zip archive that is cut off', 'docx', () => makeDocx(run('a')).subarray(0, 300), unreadable],
  ['HTML that is nested 100,000 deep', 'html', () => '<div>'.repeat(100_000) + 'deep', expect.anything()],
  ['HTML of 100,000 open formats', 'html', () => '<b><i><p>'.repeat(100_000) + 'deep', expect.anything()],
  ['Markdown of nested quotes', 'markdown', () => `${'>'.repeat(50_000)}a`, expect.anything()],
  ['Markdown of nested lists', 'markdown', () => `${'* '.repeat(20_000)}a`, exceeded],
  ['Markdown of open brackets', 'markdown', () => '[a]('.repeat(100_000), expect.anything()],
  [
    'bytes that call themselves text',
    'text',
    () => Buffer.alloc(1000),
    'The file is not text: its content type or its extension is wrong',
  ],
  ['95 MB of text', 'text', () => Buffer.alloc(95 * megabyte, 'some words '), tooLong],
  ['95 MB without a space', 'text', () => Buffer.alloc(95 * megabyte, 'a'), tooLong],
]

describe('a hostile document harms nothing, and leaves the next one in peace', { timeout: 60_000 }, () => {
  test.each(cases)('%s', async (_what, format, make, expected) => {
    expect(await extractWith(extractor, format, make())).toEqual(expected)
    expect(await extractWith(extractor, 'text', 'harmless')).toEqual([
      { subtype: 'paragraph', text: 'harmless', breadcrumb: [] },
    ])
    expect(sandboxesOf(process.pid)).toEqual([])
  })

  test('scripts of a page are neither run nor text', async () => {
    const page = '<p>a<script>globalThis.x = 1; throw 1</script></p><p onclick="x()">b</p><svg><script>1</script></svg>'
    const passages = await extractWith(extractor, 'html', page)
    expect(JSON.stringify(passages)).not.toMatch(/script|throw|onclick/)
  })

  test('files that a Word document links to are not read', async () => {
    const document = makeDocx(
      '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">' +
        '<a:blip xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.' +
        `org/officeDocument/2006/relationships" r:link="r9"/></wp:inline></w:drawing></w:r></w:p>${run('text')}`,
      {
        'word/_rels/document.xml.rels':
          '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r9" ' +
          'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="file:///etc/passwd" ' +
          'TargetMode="External"/></Relationships>',
      },
    )
    expect(await extractWith(extractor, 'docx', document)).toEqual([
      { subtype: 'paragraph', text: 'text', breadcrumb: [] },
    ])
  })
})

/** A program that tries what a document would that has taken over the process, and replies with its findings. */
const takenOver = (port: number) => `
  const { connect, Socket } = require('node:net')
  const channel = new Socket({ fd: 3, allowHalfOpen: true })
  channel.resume()
  const tried = (action) => { try { action(); return 'done' } catch (error) { return error.code } }
  const findings = {
    read: tried(() => require('node:fs').readFileSync('/etc/passwd')),
    list: tried(() => require('node:fs').readdirSync('/')),
    write: tried(() => require('node:fs').writeFileSync('/tmp/isobot-attack', '')),
    run: tried(() => require('node:child_process').spawnSync('/bin/true')),
    thread: tried(() => new (require('node:worker_threads').Worker)('', { eval: true })),
    addon: tried(() => process.dlopen({ exports: {} }, '/usr/lib/libc.so')),
    environment: Object.keys(process.env).filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name)),
  }
  const end = (connection) => {
    channel.end(JSON.stringify({ refused: JSON.stringify({ ...findings, connection }) }), () => process.exit())
  }
  connect(${port}, '127.0.0.1').on('connect', () => end('open')).on('error', () => end('refused'))`

async function* failing() {
  yield Buffer.from('a')
  throw new Error('the store is gone')
}

const task = {
  format: 'text',
  chunking: { minimumParagraphLength: 50, maximumChunkLength: 100 },
  maxPassages: 9,
} as const

describe('a process that a document has taken over', () => {
  test('reads no file, starts nothing, has no environment, and reaches no server', async () => {
    const { createServer } = await import('node:net')
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const isolation = await detectIsolation({ profile: 'hardened', require: [], log() {} })
    const impostor = await openProgramInPlaceOfExtractor(takenOver(port), isolation)
    const denied = 'ERR_ACCESS_DENIED'
    const findings = await extractWith(impostor, 'text', 'a')
    await impostor.close()
    server.close()
    expect(JSON.parse(findings as string)).toEqual({
      read: denied,
      list: denied,
      write: denied,
      run: denied,
      thread: denied,
      addon: 'ERR_DLOPEN_DISABLED',
      environment: [],
      // Where the machine allows no namespace, the layer is missing, as the worker reports at its start.
      connection: isolation.holds.has('network') ? 'refused' : 'open',
    })
  })

  test('is gone when the extractor is closed', async () => {
    const isolation = await detectIsolation({ profile: 'hardened', require: [], log() {} })
    const endless = await openProgramInPlaceOfExtractor('for (;;);', isolation)
    const extracting = extractWith(endless, 'text', 'a').catch((error: unknown) => error)
    await expect.poll(() => sandboxesOf(process.pid), { timeout: 20_000 }).not.toEqual([])
    await endless.close()
    expect(await extracting).toBeInstanceOf(ExtractorError)
    expect(sandboxesOf(process.pid)).toEqual([])
  })

  test('a document that cannot be read from its store fails with the error of the store', async () => {
    await expect(extractor.extract('test', task, failing)).rejects.toThrow('the store is gone')
  })

  test('a document that its store sends too slowly is not refused: it may arrive later', async () => {
    const slow = await openExtractorHere({ seconds: 1 })
    onTestFinished(() => slow.close())
    const gone = Promise.withResolvers<void>()
    async function* stalled() {
      yield Buffer.from('Half of it')
      await gone.promise
    }
    const extracting = slow.extract('test', task, stalled)
    await expect(extracting).rejects.toThrow('The document did not arrive within 2.5 s')
    gone.resolve()
  })
})
