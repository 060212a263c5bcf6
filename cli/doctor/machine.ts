import { statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import type { Config } from '#shared/config/config.ts'
import { maxOpenFiles } from '#shared/process/open-files.ts'
import { findingsOf, type Finding } from './finding.ts'
import { megabyte } from '#shared/units.ts'

const { ok, warn, fail } = findingsOf('Machine')

const wantedMajor = 24
/** Memory of one api or worker process without its sandbox processes, measured under load. */
const processMegabytes = 200
/** Each listener of a conversation and each request holds one open file. */
const wantedFiles = 4096
const minDiskMegabytes = 200
const wantedDiskMegabytes = 2000

/** Checks the machine: Node, memory, open files, disk. */
export async function checkMachine(config: Config | undefined, dataDirectory: string | undefined): Promise<Finding[]> {
  const disk = dataDirectory === undefined ? [] : [await checkDisk(dataDirectory)]
  return [checkNode(), ...(config ? [checkMemory(config)] : []), checkFiles(), ...disk]
}

function checkNode(): Finding {
  const { node } = process.versions
  const major = Number(node.split('.')[0])
  if (major === wantedMajor) return ok(`Node ${node} on ${process.platform} ${process.arch}`)
  const remedy = `use Node ${wantedMajor}, which npm ci installs and npm run and npx isobot use`
  return major < wantedMajor
    ? fail(`Node ${node} is too old`, remedy)
    : warn(`Node ${node} is newer than the tested version`, remedy)
}

function checkMemory({ sandbox }: Config): Finding {
  const constrained = process.constrainedMemory()
  const all = Math.floor(Math.min(totalmem(), constrained > 0 ? constrained : Infinity) / megabyte)
  const wanted = sandbox.totalMegabytes + processMegabytes
  const message = `${all} MB of memory; a worker may use ${wanted}, of which its ${sandbox.processes} sandbox processes ${sandbox.totalMegabytes}`
  if (all >= wanted + processMegabytes) return ok(message)
  const remedy = `set SANDBOX_MEMORY to ${Math.max(128, all - 2 * processMegabytes)} or less, or give it more memory`
  return all >= wanted ? warn(`${message}: not enough for an api on the same machine`, remedy) : fail(message, remedy)
}

function checkFiles(): Finding {
  const maxFiles = maxOpenFiles()
  const message = `${maxFiles === Infinity ? 'Any number of' : maxFiles} open files for a process`
  if (maxFiles >= wantedFiles) return ok(message)
  return warn(
    `${message}: the limit of an api’s concurrent listeners and requests`,
    `raise it: ulimit -n ${wantedFiles}`,
  )
}

async function checkDisk(directory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(directory)
  const free = Math.floor((bavail * bsize) / megabyte)
  const message = `${free} MB are free on the disk of the data folder (${directory})`
  if (free >= wantedDiskMegabytes) return ok(message)
  const remedy = 'free disk space: PostgreSQL refuses writes when its disk is full'
  return free < minDiskMegabytes ? fail(message, remedy) : warn(message, remedy)
}
