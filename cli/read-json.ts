import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { failed, misused } from './failure.ts'
import { parseJson } from './parse-json.ts'

/** Reads an object in JSON from the command line. @throws Failure */
export function readJson(given: string, name: string): Record<string, unknown> {
  try {
    const value = parseJson(given)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch (cause) {
    throw misused(`${name} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  throw misused(`${name} must be an object in JSON, such as { "status": "open" }`)
}

/** Reads an object in JSON from a file, or from standard input for `-`. @throws Failure */
export async function readJsonFile(path: string): Promise<Record<string, unknown>> {
  if (path === '-') return readJson(await text(process.stdin), 'Standard input')
  const content = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw failed(`${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  })
  return readJson(content, path)
}
