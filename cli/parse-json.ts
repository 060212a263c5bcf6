/**
 * Parses JSON with or without a byte-order mark, with which some editors begin a file.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text.replace(/^\uFEFF/, ''))
}
