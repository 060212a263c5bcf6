import { deflateRawSync, crc32 } from 'node:zlib'

/** A PDF with these lines on each page; the first line of a page is in a larger font. */
export function makePdf(pages: string[][], content: (lines: string[]) => string = toContent): Buffer {
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ')
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  for (const [index, lines] of pages.entries()) {
    const text = content(lines)
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${5 + index * 2} 0 R ` +
        '/Resources << /Font << /F1 3 0 R >> >> >>',
      `<< /Length ${Buffer.byteLength(text)} >>\nstream\n${text}\nendstream`,
    )
  }
  return joinPdf(objects)
}

/** A PDF of these objects, the first of which is its catalogue. */
export function joinPdf(objects: (string | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  let length = parts[0]!.length
  const offsets: number[] = []
  for (const [index, object] of objects.entries()) {
    offsets.push(length)
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')])
    parts.push(part)
    length += part.length
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}` +
        `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`,
    ),
  )
  return Buffer.concat(parts)
}

function toContent(lines: string[]): string {
  const [first = '', ...others] = lines.map((line) => line.replace(/[()\\]/g, '\\$&'))
  const rest = others.map((line) => `0 -14 Td (${line}) Tj`).join('\n')
  return `BT /F1 24 Tf 50 800 Td (${first}) Tj /F1 11 Tf 0 -20 Td\n${rest}\nET`
}

const names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'

const style = (id: string, name: string) =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/></w:style>`

/** A Word document with this body. */
export function makeDocx(body: string, others: Record<string, string | Buffer> = {}): Buffer {
  return makeZip({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ' +
      'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ' +
      'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    '_rels/.rels':
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" ' +
      'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ' +
      'Target="word/document.xml"/></Relationships>',
    'word/styles.xml': `<w:styles ${names}>${style('Heading1', 'heading 1')}${style('Heading2', 'heading 2')}</w:styles>`,
    'word/document.xml': `<w:document ${names}><w:body>${body}</w:body></w:document>`,
    ...others,
  })
}

/**
 * A zip archive.
 *
 * @param statedBytes the unpacked size that the archive states for each file, in place of the true one
 */
export function makeZip(files: Record<string, string | Buffer>, statedBytes?: number): Buffer {
  const locals: Buffer[] = []
  const entries: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes, { level: 9 })
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(statedBytes ?? bytes.length, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, rest, Buffer.from(name)]))
    locals.push(local)
    offset += local.length
  }
  const list = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, list, end])
}
