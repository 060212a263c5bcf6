import type { SpawnOptions } from 'node:child_process'
import type { Profile } from '../protocol/contract.ts'
import { sandboxDescriptors } from '../isolation/descriptors.ts'
import type { Layers } from '../isolation/layers.ts'
import { chrootScript } from '../isolation/chroot.ts'
import type { Tools } from '../isolation/tools.ts'

const commonFlags = [
  '--no-node-snapshot',
  // No files, no processes, no threads; the addon is the exception, loaded by its path.
  '--permission',
  '--allow-addons',
  '--disable-warning=PERM0001',
  // It opens files of its own accord, whatever the permissions.
  '--no-experimental-sqlite',
  '--enable-experimental-regexp-engine-on-excessive-backtracks',
  // Of the process itself; isolates have limits of their own.
  '--max-old-space-size=96',
]

const profileFlags: Record<Profile, string[]> = {
  hardened: [
    // Neither generated machine code nor WebAssembly, and a memory cap that `ulimit -d` can keep.
    '--jitless',
    // Without it, a loop whose body is one slow builtin does not notice for seconds that it was stopped.
    '--invocation-count-for-turbofan=10',
  ],
  // An unrolled loop of builtins never notices that it was stopped; one that is compiled late does not for seconds.
  jit: [
    '--no-turboshaft-loop-unrolling',
    '--invocation-count-for-feedback-allocation=1',
    '--invocation-count-for-maglev=10',
    '--invocation-count-for-maglev-osr=5',
    '--minimum-invocations-after-ic-update=10',
  ],
}

/**
 * Accounts that systemd gives to services for as long as they run, so that no person and no file has them. Containers
 * with accounts of their own have these too.
 */
const firstAccount = 61_184
const accounts = 65_520 - firstAccount

/** A program that runs in place of one that holds isolates. */
export interface OtherProgram {
  /** Its file and arguments. */
  words: string[]
  /** What it needs of the file system beside what every program in a root of its own finds. */
  files: string[]
  environment: Record<string, string>
  /** Beyond this much processor time the kernel ends it. */
  cpuSeconds: number
}

export interface CommandOptions {
  layers: Layers
  tools: Tools
  /** What its own root holds, where it has one. */
  files: string[]
  profile: Profile
  /**
   * The most data that a process may have, in kilobytes. Resizable array buffers, Intl's heap and V8's own tables escape
   * the heap limit of an isolate; this cap catches them, where there is no JIT that reserves half a gigabyte unused.
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
 * The command line of a sandbox process. It reads its program from standard input, complains on standard error, speaks
 * over descriptor 3, and inherits nothing else: no environment, no folder, no file. Each link of the chain drops
 * something and executes the rest. The standard output of another program is descriptor 3 as well.
 */
export function sandboxCommand(options: CommandOptions): Command {
  const { layers, tools, program } = options
  const files = [...options.files, ...(program?.files ?? [])]
  const account = firstAccount + Math.floor(Math.random() * accounts)
  // What makes a user namespace owns it, so the account has to come first there.
  const accountFirst = layers.namespaces === 'user'
  const links: string[][] = [
    ['-c', ['trap "" INT TERM', ...limits(options), program ? 'exec "$@" >&3' : 'exec "$@"'].join('; '), 'sh'],
    tools.nice === undefined ? [] : [tools.nice, '-n', '10'],
    layers.namespaces === undefined ? [] : namespaces(layers, tools, accountFirst ? account : undefined),
    layers.chroot ? ['/bin/sh', '-c', chrootScript(files, tools), 'sh'] : [],
    privileges(layers, tools, accountFirst ? undefined : account),
    program?.words ?? [process.execPath, ...commonFlags, ...profileFlags[options.profile], '-'],
  ]
  return {
    file: '/bin/sh',
    args: links.flat(),
    // In a session of its own it has no terminal, and whom it signals as its group is only itself.
    options: { env: program?.environment ?? {}, cwd: '/', stdio: sandboxDescriptors(), detached: true },
  }
}

/** Its own root is made of files, and forbids them afterwards. */
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

/** `unshare` waits outside for what it started, and has to end with the worker just the same. */
function namespaces(layers: Layers, tools: Tools, account: number | undefined): string[] {
  return [
    ...(tools.setpriv === undefined ? [] : [tools.setpriv, ...accountOptions(layers, account), '--pdeathsig', 'KILL']),
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
