const mapComment = '\n//# sourceMappingURL='
const dataUrl = 'data:application/json'
const base64Mark = ';base64,'

/** Takes the last line with a source map off, and gives that map, if it is within the line. */
export function splitMap(source: string): { code: string; carried: string } {
  const start = source.lastIndexOf(mapComment)
  if (start < 0) return { code: source, carried: '' }
  const url = source.slice(start + mapComment.length).trimEnd()
  if (url.includes('\n')) return { code: source, carried: '' }
  const end = url.startsWith(dataUrl) ? url.indexOf(base64Mark) : -1
  const carried = end < 0 ? '' : Buffer.from(url.slice(end + base64Mark.length), 'base64').toString()
  return { code: source.slice(0, start + 1), carried }
}

/** The source with a source map in its last line, in place of the one that it may carry. */
export function joinMap(source: string, sourceMap: string): string {
  return `${splitMap(source).code}${mapComment}${dataUrl}${base64Mark}${Buffer.from(sourceMap).toString('base64')}\n`
}
