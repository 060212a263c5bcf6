import { execFileSync } from 'node:child_process'

/** What a process has open besides its streams: the database, Redis, its own files. */
const otherFiles = 100

/**
 * How many streams a process of this machine may hold. Node raises its soft limit to the hard one as it starts, so a
 * shell that it starts tells how far that went.
 */
export function maxStreams(): number {
  const limit = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim()
  return limit === 'unlimited' ? Infinity : Number(limit) - otherFiles
}
