import type { SpawnOptions } from 'node:child_process'
import type { Profile } from '../protocol/contract.ts'
import { sandboxDescriptors } from './descriptors.ts'
import type { Layers } from './layers.ts'
import { chrootScript } from './chroot.ts'
import type { Tools } from './tools.ts'

const commonFlags = [
  '--no-node-snapshot',
  // No files, no processes, no threads. The addon is the exception; it is loaded by its path.
  '--permission',
  '--allow-addons',
  '--disable-warning=PERM0001',
  // SQLite opens files regardless of the permissions.
  '--no-experimental-sqlite',
  '--enable-experimental-regexp-engine-on-excessive-backtracks',
  // Heap of the process itself; isolates have limits of their own.
  '--max-old-space-size=96',
]

const profileFlags: Record<Profile, string[]> = {
  hardened: [
    // No generated machine code and no WebAssembly; without them, `ulimit -d` is a usable memory cap.
    '--jitless',
    // Otherwise a loop whose body is one slow builtin takes seconds to notice its termination.
    '--invocation-count-for-turbofan=10',
  ],
  // An unrolled loop of builtins never notices its termination; a loop that is optimized late takes seconds.
  jit: [
    '--no-turboshaft-loop-unrolling',
    '--invocation-count-for-feedback-allocation=1',
    '--invocation-count-for-maglev=10',
    '--invocation-count-for-maglev-osr=5',
    '--minimum-invocations-after-ic-update=10',
  ],
}

/**
 * The range of systemd's dynamic users, so no person and no file has these accounts. Containers with a user namespace
 * of their own have them too.
 */
const firstAccount = 61_184
const accounts = 65_520 - firstAccount

/** A program that runs in place of the one that holds isolates. */
export interface OtherProgram {
  /** The executable and its arguments. */
  words: string[]
  /** Files that the program needs in its root, in addition to those of every program. */
  files: string[]
  environment: Record<string, string>
  /** Processor time after which the kernel ends the program. */
  cpuSeconds: number
}

export interface CommandOptions {
  layers: Layers
  tools: Tools
  /** The files in the process's own root, if it has one. */
  files: string[]
  profile: Profile
  /**
   * Cap on the data of a process, in kilobytes. Resizable array buffers, Intl's heap and V8's own tables are outside
   * the heap limit of an isolate; this cap covers them, except with a JIT, which reserves half a gigabyte that it does
   * not use.
   */
  dataKilobytes: number
  program?: OtherProgram
}

export interface Command {
  file: string
  args: string[]
  options: SpawnOptions
}

/**
 * The command line of a sandbox process. The process reads its program from standard input, writes errors to standard
 * error, exchanges frames over descriptor 3, and inherits nothing else: no environment, no folder, no file. Each link
 * of the chain drops privileges or access and executes the rest. The standard output of an `OtherProgram` is descriptor
 * 3 as well.
 */
export function sandboxCommand(options: CommandOptions): Command {
  const { layers, tools, program } = options
  const files = [...options.files, ...(program?.files ?? [])]
  const account = firstAccount + Math.floor(Math.random() * accounts)
  // The account that makes a user namespace owns it, so the account has to change first.
  const accountFirst = layers.namespaces === 'user'
  const guard = endingWithWorker(layers, tools, accountFirst ? account : undefined)
  const script = [
    'trap "" INT TERM',
    // The kernel does not report the end of a worker that ended before `setpriv` ran.
    ...(guard.length === 0 ? [] : [`[ "$PPID" = ${process.pid} ] || exit 1`]),
    ...limits(options),
    program ? 'exec "$@" >&3' : 'exec "$@"',
  ]
  const links: string[][] = [
    guard,
    ['/bin/sh', '-c', script.join('; '), 'sh'],
    tools.nice === undefined ? [] : [tools.nice, '-n', '10'],
    layers.namespaces === undefined ? [] : namespaces(layers, tools),
    layers.chroot ? ['/bin/sh', '-c', chrootScript(files, tools), 'sh'] : [],
    privileges(layers, tools, accountFirst ? undefined : account),
    program?.words ?? [process.execPath, ...commonFlags, ...profileFlags[options.profile], '-'],
  ]
  const [file, ...args] = links.flat() as [string, ...string[]]
  return {
    file,
    args,
    // In a session of its own, the process has no terminal, and a signal to its process group reaches only itself.
    options: { env: program?.environment ?? {}, cwd: '/', stdio: sandboxDescriptors(), detached: true },
  }
}

/** The script that makes the chroot writes files, and forbids that afterwards with its own `ulimit -f`. */
function limits({ layers, profile, dataKilobytes, program }: CommandOptions): string[] {
  const keepsCap = program !== undefined || profile === 'hardened'
  return [
    'ulimit -c 0',
    'ulimit -n 64',
    ...(layers.chroot ? [] : ['ulimit -f 0']),
    ...(keepsCap ? [`ulimit -d ${dataKilobytes}`] : []),
    ...(program ? [`ulimit -t ${program.cpuSeconds}`] : []),
  ]
}

/** `unshare` waits outside the namespaces for its child, and has to end with the worker too. */
function endingWithWorker(layers: Layers, tools: Tools, account: number | undefined): string[] {
  if (layers.namespaces === undefined || tools.setpriv === undefined) return []
  return [tools.setpriv, ...accountOptions(layers, account), '--pdeathsig', 'KILL']
}

function namespaces(layers: Layers, tools: Tools): string[] {
  return [
    tools.unshare!,
    '--net',
    '--ipc',
    '--pid',
    '--fork',
    '--kill-child',
    ...(layers.namespaces === 'user' ? ['--user', '--map-root-user'] : []),
    ...(layers.chroot ? ['--mount'] : []),
  ]
}

function privileges(layers: Layers, tools: Tools, account: number | undefined): string[] {
  if (!layers.noPrivileges) return []
  const mayDropAll = layers.namespaces !== undefined || process.geteuid?.() === 0
  return [
    tools.setpriv!,
    ...accountOptions(layers, account),
    '--no-new-privs',
    '--inh-caps=-all',
    '--ambient-caps=-all',
    '--pdeathsig',
    'KILL',
    ...(mayDropAll ? ['--bounding-set=-all'] : []),
  ]
}

function accountOptions(layers: Layers, account: number | undefined): string[] {
  if (!layers.ownAccount || account === undefined) return []
  return ['--reuid', `${account}`, '--regid', `${account}`, '--clear-groups']
}
