import { spawn } from 'node:child_process'
import type { Profile } from '../profiles.ts'
import { failed } from '../failure.ts'

/** The outcome of a command of `bp`. */
export interface BpOutcome {
  /** Null when a signal ended it. */
  exitCode: number | null
  /** The end of what it printed, on both streams. */
  output: string
}

/** The public command line, logged in to a platform with settings of its own. */
export interface Bp {
  /** Runs a command in a folder, without a person. It is killed after five minutes. */
  run(directory: string, ...args: string[]): Promise<BpOutcome>
  /** Whether this version has the option `--visibility`: 0.8 has not. */
  readonly setsVisibility: boolean
}

const timeoutMilliseconds = 300_000
const maxOutput = 200_000

/**
 * Logs `bp` in.
 *
 * @param script the program, which Node runs
 * @param home the folder for its settings; the token is in it
 * @throws Failure with its output when it fails
 */
export async function openBp(
  script: string,
  { url, token, workspaceId }: Pick<Profile, 'url' | 'token' | 'workspaceId'>,
  home: string,
): Promise<Bp> {
  // Names have no handle of a workspace here, as in the publisher's own workspace.
  const environment = { ...process.env, NO_COLOR: '1', CI: '1', BP_IS_BOTPRESS_WORKSPACE: 'true' }
  const start = (directory: string, args: string[]) => runScript(script, args, { directory, environment })
  const run = (directory: string, ...args: string[]) =>
    start(directory, [...args, '--botpress-home', home, '--confirm', '--verbose'])
  const account = ['--token', token, '--workspace-id', workspaceId, '--api-url', url]
  const [help, login] = await Promise.all([start(home, ['deploy', '--help']), run(home, 'login', ...account)])
  if (login.exitCode !== 0) throw failed(`bp login failed: ${problemIn(login.output)}`)
  return { run, setsVisibility: help.output.includes('--visibility') }
}

/** The error in the output of a command, in one line. */
export function problemIn(output: string): string {
  const lines = output.split('\n').map((line) => line.trim())
  const problem = lines.findLast((line) => line.startsWith('×')) ?? lines.findLast((line) => line !== '') ?? 'no output'
  return problem.replace(/^×\s*/, '').slice(0, 300)
}

function runScript(
  script: string,
  args: string[],
  { directory, environment }: { directory: string; environment: NodeJS.ProcessEnv },
): Promise<BpOutcome> {
  const child = spawn(process.execPath, [script, ...args], { cwd: directory, env: environment })
  child.stdin.end()
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-maxOutput)))
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMilliseconds)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    // Not `close`: processes that the command has started may keep its output open.
    child.once('exit', (exitCode) => {
      clearTimeout(timer)
      resolve({ exitCode, output })
    })
  })
}
