import { readdir, readFile } from 'node:fs/promises'

/** Resident memory in megabytes of a process, or of all processes below it. Undefined on other systems than Linux. */
export async function residentMegabytes(pid: number, { isBelow = false } = {}): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined
  if (!isBelow) return (await readStatus(`${pid}`))?.megabytes
  const statuses = await readStatuses()
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
    const status = /^\d+$/.test(name) && (await readStatus(name))
    if (status) statuses.set(Number(name), status)
  }
  return statuses
}

/** Undefined when the process has ended. */
async function readStatus(pid: string): Promise<Status | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => undefined)
  if (text === undefined) return undefined
  const number = (field: string) => Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? 0)
  return { parent: number('PPid'), megabytes: number('VmRSS') / 1024 }
}
