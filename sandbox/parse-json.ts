import type { Json } from './contract.ts'

/** V8 parses any depth, but writes no more than some thousands. */
const mostNested = 1000

/**
 * Parses JSON that bot code made. Keys called `__proto__` are dropped: harmless here, they would change the prototype
 * of whatever they are assigned to later.
 *
 * @throws SyntaxError when it is no JSON
 * @throws TypeError when it is nested so deep that it could not be written again
 */
export function parseUntrustedJson(text: string): Json {
  if (isDeep(text)) throw new TypeError(`JSON may be nested ${mostNested} deep`)
  const suspicious = text.includes('__proto__') || text.includes('\\u')
  return JSON.parse(text, suspicious ? dropPrototypes : undefined) as Json
}

function dropPrototypes(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}

function isDeep(text: string): boolean {
  if (text.length < mostNested) return false
  let depth = 0
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]!
    if (character === '"') index = endOfString(text, index)
    else if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    if (depth > mostNested) return true
  }
  return false
}

/** @param start of its opening quote */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return text.length
}
