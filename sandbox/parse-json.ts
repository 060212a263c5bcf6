import type { Json } from './contract.ts'

/**
 * Parses JSON that bot code made. Keys called `__proto__` are dropped: harmless here, they would change the prototype
 * of whatever they are assigned to later.
 */
export function parseUntrustedJson(text: string): Json {
  const suspicious = text.includes('__proto__') || text.includes('\\u')
  return JSON.parse(text, suspicious ? dropPrototypes : undefined) as Json
}

function dropPrototypes(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}
