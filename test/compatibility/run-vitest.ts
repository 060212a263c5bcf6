import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The part of Vitest's JSON that is read. */
export interface SuiteResults {
  testResults: {
    name: string
    message?: string
    assertionResults: { title: string; fullName: string; status: string; failureMessages: string[] }[]
  }[]
}

/**
 * Runs the tests of a package with the Vitest that a folder has installed.
 *
 * @param folder with `node_modules` and `configuration`
 * @param root the folder of the package
 * @throws Error when a file of tests does not run
 */
export async function runVitest(
  folder: string,
  {
    root,
    configuration,
    environment,
    milliseconds,
  }: {
    root: string
    configuration: string
    environment: NodeJS.ProcessEnv
    milliseconds: number
  },
): Promise<SuiteResults> {
  const outputFile = join(folder, 'results.json')
  const args = ['run', '--root', root, '--config', configuration, '--reporter', 'json', '--outputFile', outputFile]
  const outcome = await run(process.execPath, [join(folder, 'node_modules', 'vitest', 'vitest.mjs'), ...args], {
    env: { ...process.env, ...environment },
    timeout: milliseconds,
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: Error & { stderr?: string }) => error)
  const text = await readFile(outputFile, 'utf8').catch(() => undefined)
  if (text === undefined) throw new Error(`The tests did not run: ${outcome.stderr ?? ''}`)
  const results = JSON.parse(text) as SuiteResults
  const broken = results.testResults.find(({ assertionResults }) => assertionResults.length === 0)
  if (broken) throw new Error(`${broken.name} does not run: ${broken.message}`)
  return results
}
