const token = /^[\w!#$%&'*+.^`|~-]+$/

/**
 * Writes a media type in the form in which the web compares types: `text/html;charset=utf-8`.
 *
 * @returns undefined for a text that is no media type
 */
export function normalMediaType(text: string): string | undefined {
  const type = text.split(';', 1)[0]!.trim()
  const names = type.split('/')
  if (names.length !== 2 || !names.every((name) => token.test(name))) return undefined
  const parameters = new Map<string, string>()
  for (const [, given, quoted, plain = ''] of text.matchAll(
    /;[\t\n\r ]*([^;=]*)(?:=(?:"((?:[^"\\]|\\.)*)"?[^;]*|([^;]*)))?/gs,
  )) {
    const name = given!.toLowerCase()
    const value = quoted?.replace(/\\(.)/gs, '$1') ?? plain.trimEnd()
    const isValid =
      token.test(name) && (quoted !== undefined || value !== '') && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
    if (isValid && !parameters.has(name)) parameters.set(name, value)
  }
  let normal = type.toLowerCase()
  for (const [name, value] of parameters)
    normal += `;${name}=${token.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`
  return normal
}
