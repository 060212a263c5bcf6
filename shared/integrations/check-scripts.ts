import type { Context } from '../context.ts'
import { ApiError } from '../errors.ts'
import { newId } from '../ids.ts'
import { boundWarnings } from '../models/bounded-warnings.ts'
import { scriptsIn, type ScriptCompilation, type ScriptCompilations } from '../models/script.ts'
import { awaitOutcome } from '../signals/await-outcome.ts'
import { WaitingRequests } from '../signals/waiting-requests.ts'
import { deleteScriptCheck, findCheckOutcome, insertScriptCheck } from '../store/script-checks.ts'

/** Less than the 30 s after which some routers of platforms end a request. */
const timeoutMilliseconds = 25_000

const waiting = new WaitingRequests(100)

/** The schema of the warnings in the answer to an upload of an integration. */
export const scriptWarnings = {
  type: 'array',
  items: { type: 'string' },
  description:
    'Warnings about scripts that do not compile, with the field, the position and the compiler’s message. The ' +
    'integration is accepted all the same.',
} as const

/**
 * Has a worker compile the scripts in a definition, or in a change of one. Public integrations have scripts that do not
 * compile, so a fault refuses no upload.
 *
 * @returns warnings; none where all scripts compile
 */
export async function checkScripts(
  context: Context,
  workspaceId: string,
  change: Parameters<typeof scriptsIn>[0],
): Promise<string[]> {
  const scripts = scriptsIn(change)
  const fields = Object.keys(scripts)
  if (fields.length === 0) return []
  let compilations: ScriptCompilations = {}
  let problem = 'the compiler did not finish those before'
  try {
    const ask = () => askWorker(context, workspaceId, scripts)
    compilations = await waiting.run(context, { workspaceId }, 'uploads of this workspace', ask)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    problem = error.message
  }
  const faults = fields.flatMap((field) => warningOf(field, compilations[field]))
  const warnings = boundWarnings(faults, 'scripts do not compile')
  const [first, ...others] = fields.filter((field) => compilations[field] === undefined)
  if (first === undefined) return warnings
  const missing = others.length === 0 ? `${first} was` : `${first} and ${others.length} more scripts were`
  return [...warnings, `${missing} not compiled: ${problem}`]
}

async function askWorker(
  { db, queue, signals }: Context,
  workspaceId: string,
  scripts: Record<string, string>,
): Promise<ScriptCompilations> {
  const id = newId('check')
  try {
    return await awaitOutcome(signals, id, {
      async ask() {
        await insertScriptCheck(db, id, scripts)
        await queue.checkScripts(id, workspaceId)
      },
      poll: () => findCheckOutcome(db, id),
      timeoutMilliseconds,
      timeoutMessage: `no worker answered within ${timeoutMilliseconds / 1000} s`,
    })
  } finally {
    await deleteScriptCheck(db, id)
  }
}

function warningOf(field: string, compilation: ScriptCompilation | undefined): string[] {
  if (compilation === undefined || compilation.status === 'compiled') return []
  if (compilation.status === 'failed') return [`${field} does not compile: ${compilation.reason}`]
  const { line, column, message, faults } = compilation
  const others = faults > 1 ? `; the script has ${faults - 1} more` : ''
  return [`${field} does not compile: line ${line}, column ${column}: ${message}${others}`]
}
