import { readdir, readFile } from 'node:fs/promises'

/** Bytes in memory of a process and of all that descend from it, and the ids of the latter. Linux only. */
export async function residentBytes(pid: number): Promise<{ own: number; descendants: number; pids: number[] }> {
  const processes = await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(read))
  const found = processes.filter((process) => process !== undefined)
  const tree = new Set([pid])
  // Parents are not always before their children.
  for (let size = 0; size !== tree.size;) {
    size = tree.size
    for (const process of found) if (tree.has(process.parent)) tree.add(process.pid)
  }
  let own = 0
  let descendants = 0
  const pids: number[] = []
  for (const process of found) {
    if (process.pid === pid) own = process.bytes
    else if (tree.has(process.pid)) {
      descendants += process.bytes
      pids.push(process.pid)
    }
  }
  return { own, descendants, pids }
}

/** The ids of the sandbox processes that descend from a worker. Linux only. */
export async function sandboxPids(worker: number): Promise<number[]> {
  const { pids } = await residentBytes(worker)
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return pids.filter((_, index) => commands[index]!.includes('--permission'))
}

async function read(name: string): Promise<{ pid: number; parent: number; bytes: number } | undefined> {
  try {
    const status = await readFile(`/proc/${name}/status`, 'utf8')
    const field = (label: string) => Number(new RegExp(`^${label}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0)
    return { pid: Number(name), parent: field('PPid'), bytes: field('VmRSS') * 1024 }
  } catch {
    // It ended while it was looked at.
    return undefined
  }
}
