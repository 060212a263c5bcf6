import { execFileSync } from 'node:child_process'

/** Open files of a process besides its streams: the database, Redis, its own files. */
const otherFiles = 100

/**
 * The number of streams that a process of this machine may hold. Node raises its soft limit to the hard one at its
 * start, so the limit of a shell that it starts shows the result.
 */
export function maxStreams(): number {
  const limit = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim()
  return limit === 'unlimited' ? Infinity : Number(limit) - otherFiles
}
