import type { Json } from './contract.ts'

/** V8 parses any depth, but serializes only some thousands. */
const maxDepth = 1000

/** `"`, `[`, `{`, `]` and `}`. */
const [quote, bracket, brace, closingBracket, closingBrace] = [0x22, 0x5b, 0x7b, 0x5d, 0x7d]

/**
 * Parses JSON from bot code. Keys called `__proto__` are dropped: harmless here, they would change the prototype of an
 * object to which they are assigned later.
 *
 * @throws SyntaxError when it is not valid JSON
 * @throws TypeError when it is nested too deep to be serialized again
 */
export function parseUntrustedJson(text: string): Json {
  if (isDeep(text)) throw new TypeError(`JSON may be nested at most ${maxDepth} levels deep`)
  const parsed = JSON.parse(text) as Json
  if (text.includes('__proto__') || text.includes('\\u')) dropPrototypes(parsed)
  return parsed
}

/** `JSON.parse` with a reviver would block the worker for a second and more with one megabyte. */
function dropPrototypes(value: Json): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) delete value['__proto__']
  const parts = Array.isArray(value) ? value : Object.values(value)
  for (const part of parts) if (typeof part === 'object') dropPrototypes(part)
}

function isDeep(text: string): boolean {
  if (text.length < maxDepth) return false
  let depth = 0
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index)
    if (character === quote) index = endOfString(text, index)
    else if (character === bracket || character === brace) depth += 1
    else if (character === closingBracket || character === closingBrace) depth -= 1
    if (depth > maxDepth) return true
  }
  return false
}

/** @param start index of the opening quote */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return text.length
}
