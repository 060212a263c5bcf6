import { join } from 'node:path'

/**
 * The paths in the directory of an embedded PostgreSQL. A complete cluster appears in one step, by a rename, so that an
 * interrupted first start leaves nothing that the next start takes for data.
 */
export function postgresFiles(directory: string) {
  return { cluster: join(directory, 'cluster'), ...clusterFiles(join(directory, 'cluster')) }
}

/** The paths in one cluster, finished or unfinished. */
export function clusterFiles(cluster: string) {
  return {
    data: join(cluster, 'data'),
    password: join(cluster, 'password'),
    lock: join(cluster, 'data', 'postmaster.pid'),
  }
}

/** The path of a process's cluster until it is complete. */
export function unfinishedCluster(directory: string, pid: number): string {
  return join(directory, `cluster-unfinished-${pid}`)
}

/** The id of the process that makes, or made, the unfinished cluster of this name. */
export function creatorOfUnfinishedCluster(name: string): number | undefined {
  const pid = /^cluster-unfinished-(\d+)$/.exec(name)?.[1]
  return pid === undefined ? undefined : Number(pid)
}

/** Whether a name in the directory is one of the names above. */
export function isPostgresFile(name: string): boolean {
  return name === 'cluster' || creatorOfUnfinishedCluster(name) !== undefined
}

/** The administrator of every embedded server. */
export const databaseUser = 'isobot'
