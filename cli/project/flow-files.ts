import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { transform, type Message } from 'esbuild'
import { isRecord } from '#shared/models/payload.ts'
import { failed } from '../failure.ts'
import type { Problem } from './code-frame.ts'

/** The folder of a project that holds its flows as JSON. */
export const flowsFolder = 'flows'

const layoutEnd = '.layout.json'

/** The flows of a project's folder, as an upload has them. */
export interface ProjectFlows {
  flows: object[]
  /** Positions of nodes in the pictures of the flows, by flow. */
  layouts: Record<string, object>
}

/**
 * Reads `flows/<id>.json` and `flows/<id>.layout.json` of a project, in the order of their names.
 *
 * @returns the flows, none without such a folder; or the problems of the files
 * @throws Failure when a file cannot be read
 */
export async function readFlows(folder: string): Promise<ProjectFlows | { problems: Problem[] }> {
  const names = await readdir(join(folder, flowsFolder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw failed(`${join(folder, flowsFolder)} cannot be read: ${error.message}`, { cause: error })
  })
  const flows: object[] = []
  const layouts: [flow: string, layout: object][] = []
  const problems: Problem[] = []
  for (const name of names.filter((each) => each.endsWith('.json')).toSorted()) {
    const file = `${flowsFolder}/${name}`
    const read = await readObject(folder, file)
    if ('problem' in read) {
      problems.push(read.problem)
      continue
    }
    if (name.endsWith(layoutEnd)) {
      layouts.push([name.slice(0, -layoutEnd.length), read.content])
      continue
    }
    const id = name.slice(0, -'.json'.length)
    const { id: given = id } = read.content
    if (given !== id)
      problems.push({ file, message: `${file} has the flow ${JSON.stringify(given)}: rename one of them` })
    flows.push({ id, ...read.content })
  }
  return problems.length > 0 ? { problems } : { flows, layouts: Object.fromEntries(layouts) }
}

async function readObject(
  folder: string,
  file: string,
): Promise<{ content: Record<string, unknown> } | { problem: Problem }> {
  const text = await readFile(join(folder, file), 'utf8').catch((error: Error) => {
    throw failed(`${join(folder, file)} cannot be read: ${error.message}`, { cause: error })
  })
  // Some editors begin a file with a byte-order mark.
  const json = text.replace(/^\uFEFF/, '')
  try {
    const content: unknown = JSON.parse(json)
    return isRecord(content) ? { content } : { problem: { file, message: `${file} must contain a JSON object` } }
  } catch (error) {
    return { problem: await findFault(file, json, error as SyntaxError) }
  }
}

/** The position of the fault in a text that is no JSON: the bundler names it, the language does not always. */
async function findFault(file: string, json: string, { message }: SyntaxError): Promise<Problem> {
  const { errors = [] } = await transform(json, { loader: 'json', logLevel: 'silent' }).then(
    () => ({ errors: [] as Message[] }),
    (error: { errors?: Message[] }) => error,
  )
  const [first] = errors
  if (!first?.location) return { file, line: 1, column: 1, message: `is not valid JSON: ${message}` }
  const { line, column } = first.location
  return { file, line, column: column + 1, message: `is not valid JSON: ${first.text}` }
}
