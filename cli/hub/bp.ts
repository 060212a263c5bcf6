import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
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

/** Arguments contain secrets, and all users of the machine can list those of a process. */
const argumentsVariable = 'ISOBOT_BP_ARGUMENTS'
const launcher =
  `process.argv.push(...JSON.parse(process.env.${argumentsVariable}));` +
  `delete process.env.${argumentsVariable};` +
  'require(process.argv[1])'

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
  const environment = environmentOf(process.env, {
    BP_API_URL: url,
    BP_TOKEN: token,
    BP_WORKSPACE_ID: workspaceId,
    BP_BOTPRESS_HOME: home,
    // Names have no handle of a workspace here, as in the publisher's own workspace.
    BP_IS_BOTPRESS_WORKSPACE: 'true',
  })
  const start = (directory: string, args: string[]) => runScript(script, args, { directory, environment })
  const run = (directory: string, ...args: string[]) => start(directory, [...args, '--confirm', '--verbose'])
  const [help, login] = await Promise.all([start(home, ['deploy', '--help']), run(home, 'login')])
  if (login.exitCode !== 0) throw failed(`bp login failed: ${problemIn(login.output)}`)
  return { run, setsVisibility: help.output.includes('--visibility') }
}

/**
 * The environment of `bp`, which reads each option from a variable too. A variable wins over the argument, and over the
 * `.env` of a project: the account stays the given one, and the token is in no list of processes.
 */
function environmentOf(own: NodeJS.ProcessEnv, options: Record<`BP_${string}`, string>): NodeJS.ProcessEnv {
  const others = Object.entries(own).filter(([name]) => !name.startsWith('BP_'))
  return { ...Object.fromEntries(others), NO_COLOR: '1', CI: '1', ...options }
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
  const child = spawn(process.execPath, ['--eval', launcher, resolve(script)], {
    cwd: directory,
    env: { ...environment, [argumentsVariable]: JSON.stringify(args) },
  })
  child.stdin.end()
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-maxOutput)))
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMilliseconds)
  return new Promise((settle, reject) => {
    child.once('error', reject)
    // Not `close`: processes that the command has started may keep its output open.
    child.once('exit', (exitCode) => {
      clearTimeout(timer)
      settle({ exitCode, output })
    })
  })
}
