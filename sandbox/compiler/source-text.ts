const mapComment = '\n//# sourceMappingURL='
const dataUrl = 'data:application/json'
const base64Mark = ';base64,'

/** Splits off the last line if it refers to a source map, and returns the map if the line contains it. */
export function splitMap(source: string): { code: string; carried: string } {
  const start = source.lastIndexOf(mapComment)
  if (start < 0) return { code: source, carried: '' }
  const url = source.slice(start + mapComment.length).trimEnd()
  if (url.includes('\n')) return { code: source, carried: '' }
  const end = url.startsWith(dataUrl) ? url.indexOf(base64Mark) : -1
  const carried = end < 0 ? '' : Buffer.from(url.slice(end + base64Mark.length), 'base64').toString()
  return { code: source.slice(0, start + 1), carried }
}

/** Puts a source map into the last line of the source, in place of any map there. */
export function joinMap(source: string, sourceMap: string): string {
  return `${splitMap(source).code}${mapComment}${dataUrl}${base64Mark}${Buffer.from(sourceMap).toString('base64')}\n`
}
