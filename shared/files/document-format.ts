/** The formats of documents that can be indexed. */

type Format = 'pdf' | 'docx' | 'html' | 'markdown' | 'text'

const byContentType = new Map<string, Format>([
  ['application/pdf', 'pdf'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['text/html', 'html'],
  ['application/xhtml+xml', 'html'],
  ['text/markdown', 'markdown'],
  ['text/mdx', 'markdown'],
  ['text/x-markdown', 'markdown'],
  ['text/plain', 'text'],
])

const byExtension = new Map<string, Format>([
  ['pdf', 'pdf'],
  ['docx', 'docx'],
  ['html', 'html'],
  ['htm', 'html'],
  ['xhtml', 'html'],
  ['md', 'markdown'],
  ['mdx', 'markdown'],
  ['markdown', 'markdown'],
  ['txt', 'text'],
  ['text', 'text'],
])

/** Why a file of another format is not indexed, for the person who uploaded it. */
export function unknownFormat(contentType: string): string {
  const remedy = /^text\/(?:csv|tab-separated-values)\b/i.test(contentType)
    ? '. Import it into a table, whose rows are found too, or upload it as text (.txt)'
    : ''
  return (
    `Files of the type ${contentType} cannot be indexed: ` +
    `the formats are PDF (.pdf), Word (.docx), HTML (.html), Markdown (.md, .mdx) and text (.txt)${remedy}`
  )
}

/**
 * The format of a document. Servers call Markdown plain text, and programs call anything a stream of bytes, so that an
 * extension says more than these two types.
 */
export function formatOf(key: string, contentType: string): Format | undefined {
  const type = contentType.split(';')[0]!.trim().toLowerCase()
  const extension = /\.([A-Za-z]{1,10})$/.exec(key)?.[1]?.toLowerCase()
  const named = extension === undefined ? undefined : byExtension.get(extension)
  const stated = byContentType.get(type)
  if (stated !== undefined && stated !== 'text') return stated
  const isVague = type === 'text/plain' || type === 'application/octet-stream' || type === ''
  return isVague ? (named ?? stated) : undefined
}
