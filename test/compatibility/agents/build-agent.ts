import { execFile } from 'node:child_process'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { commandLineSettings } from '../../sdk/bundle.ts'

const run = promisify(execFile)

/** The published packages of an agent. With the newest `zai` in place of the one that belongs to it, the runtime does not load. */
const manifest = {
  private: true,
  type: 'module',
  dependencies: { '@botpress/runtime': '1.14.0', '@botpress/sdk': '5.4.3', '@botpress/client': '1.45.0' },
  overrides: { '@botpress/zai': '2.5.17' },
}

/**
 * Installs the published runtime and bundles an agent, with the settings of the public command line.
 *
 * @param folder for the project
 * @returns a CommonJS script that exports `handler`
 */
export async function buildAgent(folder: string): Promise<string> {
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  const options = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', ['install', ...options], { cwd: folder, maxBuffer: 64 * 1024 * 1024 })
  const entry = join(folder, 'agent.js')
  await copyFile(join(import.meta.dirname, 'agent.js'), entry)
  const { outputFiles } = await build({
    entryPoints: [entry],
    ...commandLineSettings,
    write: false,
    logLevel: 'error',
    tsconfigRaw: {},
  })
  return outputFiles[0]!.text
}
