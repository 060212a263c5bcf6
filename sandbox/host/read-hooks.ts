import type { HookStart, Json } from '../protocol/contract.ts'
import { parseUntrustedJson } from '../protocol/parse-json.ts'

const maxHooks = 240
/** The path of a card has three ids of up to 64 characters. */
const nameCharacters = 200
const textCharacters = 64_000

/**
 * Reads the active functions of a run, as a process reports them, within limits: a process that code has escaped into
 * may report anything. The difference between the run's duration here and there is taken to be the transfer to the
 * process and back, half of it each.
 *
 * @param took duration of the run in milliseconds, measured by the worker
 */
export function readHooks(text: string, took: number): HookStart[] {
  if (text === '' || text.length > textCharacters) return []
  const [sandboxMilliseconds, ...pairs] = parseList(text)
  if (typeof sandboxMilliseconds !== 'number') return []
  const way = Math.max(0, took - sandboxMilliseconds) / 2
  return pairs.slice(0, maxHooks).flatMap((pair) => {
    const [name, start] = Array.isArray(pair) ? pair : []
    if (typeof name !== 'string' || typeof start !== 'number') return []
    return [{ name: name.slice(0, nameCharacters), start: Math.min(Math.max(0, start) + way, took) }]
  })
}

function parseList(text: string): Json[] {
  try {
    const list = parseUntrustedJson(text)
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}
