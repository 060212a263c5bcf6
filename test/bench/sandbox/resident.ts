import { readdir, readFile } from 'node:fs/promises'

/** Resident memory in megabytes of a process, or of all processes below it. Undefined on other systems than Linux. */
export async function residentMegabytes(pid: number, { isBelow = false } = {}): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined
  const statuses = await readStatuses()
  if (!isBelow) return statuses.get(pid)?.megabytes
  const sumBelow = (parent: number): number => {
    const children = [...statuses].filter(([, status]) => status.parent === parent)
    return children.reduce((sum, [child, { megabytes }]) => sum + megabytes + sumBelow(child), 0)
  }
  return sumBelow(pid)
}

interface Status {
  parent: number
  megabytes: number
}

async function readStatuses(): Promise<Map<number, Status>> {
  const statuses = new Map<number, Status>()
  for (const name of await readdir('/proc')) {
    // A process may end before it is read.
    const text = /^\d+$/.test(name) && (await readFile(`/proc/${name}/status`, 'latin1').catch(() => undefined))
    if (!text) continue
    const number = (field: string) => Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? 0)
    statuses.set(Number(name), { parent: number('PPid'), megabytes: number('VmRSS') / 1024 })
  }
  return statuses
}
