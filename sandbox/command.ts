import type { SpawnOptions } from 'node:child_process'

/**
 * Resizable array buffers, Intl's heap and V8's own tables escape the heap limit of an isolate; this cap on the data of
 * the whole process catches them. Without a JIT a process needs 52 MB, and 3.5 MB more for each isolate before its bot
 * is loaded: at 480,000 KB it holds a hundred empty isolates.
 */
const dataKilobytes = 480_000

const nodeFlags = [
  '--no-node-snapshot',
  // No files, no processes, no threads; the addon is the exception, loaded by its path.
  '--permission',
  '--allow-addons',
  '--disable-warning=PERM0001',
  // Neither generated machine code nor WebAssembly, and a memory cap that `ulimit -d` can keep.
  '--jitless',
  // Without it, a loop whose body is one slow builtin does not notice for seconds that it was stopped.
  '--invocation-count-for-turbofan=10',
  '--enable-experimental-regexp-engine-on-excessive-backtracks',
  // Of the process itself; isolates have limits of their own.
  '--max-old-space-size=96',
]

export interface Command {
  file: string
  args: string[]
  options: SpawnOptions
}

/**
 * The command line of a sandbox process. It reads its program from standard input, complains on standard error, speaks
 * over descriptor 3, and inherits nothing else: no environment, no folder, no file.
 */
export function sandboxCommand(): Command {
  const limits = ['ulimit -c 0', 'ulimit -n 64', `ulimit -d ${dataKilobytes}`]
  return {
    file: '/bin/sh',
    args: ['-c', `${limits.join('; ')}; exec "$0" "$@"`, process.execPath, ...nodeFlags, '-'],
    options: { env: {}, cwd: '/', stdio: ['pipe', 'ignore', 'pipe', 'pipe'] },
  }
}
