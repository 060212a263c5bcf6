import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { OwnPlatform } from '../../support/own-platform.ts'
import type { BuiltCli } from '../cli/build-cli.ts'
import { startCommand } from '../cli/run-command.ts'
import type { Project } from './prepare-projects.ts'

export interface Deployer {
  /** Logs the command line in. @throws Error when it fails */
  logIn(): Promise<void>
  /** Adds what a project depends on, builds it and deploys it. */
  deploy(project: Project): Promise<Deployed>
}

export interface Deployed {
  /** Why the command line or the platform refused it; empty when it was deployed. */
  problem: string
  /** The size of its bundle in bytes; 0 without one. */
  bytes: number
}

/**
 * Deploys projects with the command line, without a person, as the publisher of the repository does: names have no handle,
 * and integrations are public.
 */
export function openDeployer(cli: BuiltCli, { url, token, workspaceId }: OwnPlatform, home: string): Deployer {
  const environment = { ...process.env, NO_COLOR: '1', CI: '1', BP_IS_BOTPRESS_WORKSPACE: 'true' }

  async function bp(directory: string, ...args: string[]) {
    const options = ['--botpress-home', home, '--confirm', '--verbose']
    return startCommand(cli.script, [...args, ...options], { directory, environment }).ended
  }

  return {
    async logIn() {
      const { exitCode, output } = await bp(
        home,
        'login',
        '--token',
        token,
        '--workspace-id',
        workspaceId,
        '--api-url',
        url,
      )
      if (exitCode !== 0) throw new Error(`bp login: ${output}`)
    },
    async deploy({ kind, folder }) {
      // Interfaces have no code.
      for (const step of kind === 'interfaces' ? ['add'] : ['add', 'build']) {
        const { exitCode, output } = await bp(folder, step)
        if (exitCode !== 0) return { problem: `bp ${step}: ${problemOf(output)}`, bytes: 0 }
      }
      const options = kind === 'bots' ? ['--create-new-bot'] : ['--visibility', 'public']
      if (kind === 'integrations') options.push('--allow-deprecated')
      if (kind !== 'interfaces') options.push('--noBuild')
      for (const name of await secretsOf(folder)) options.push('--secrets', `${name}=none`)
      const { exitCode, output } = await bp(folder, 'deploy', ...options)
      const bytes = await stat(join(folder, '.botpress', 'dist', 'index.cjs')).then(
        ({ size }) => size,
        () => 0,
      )
      return { problem: exitCode === 0 ? '' : `bp deploy: ${problemOf(output)}`, bytes }
    },
  }
}

/** The names of a project's secrets, which its build has written as getters. */
async function secretsOf(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, '.botpress', 'secrets', 'index.ts'), 'utf8').catch(() => '')
  return Array.from(text.matchAll(/public get (\w+)\(/g), ([, name]) => name!)
}

/** The error of a command, in one line. */
function problemOf(output: string): string {
  const lines = output.split('\n').map((line) => line.trim())
  const problem = lines.findLast((line) => line.startsWith('×')) ?? lines.findLast((line) => line !== '') ?? 'no output'
  return problem.replace(/^×\s*/, '').slice(0, 300)
}
