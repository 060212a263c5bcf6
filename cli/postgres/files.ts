import { join } from 'node:path'

/**
 * What is where in the directory of an embedded PostgreSQL. The cluster appears in one step, by a rename, when it is
 * complete: a first start that was interrupted leaves nothing that a second one would take for data.
 */
export function postgresFiles(directory: string) {
  return { cluster: join(directory, 'cluster'), ...clusterFiles(join(directory, 'cluster')) }
}

/** What is where in one cluster, finished or in the making. */
export function clusterFiles(cluster: string) {
  return {
    data: join(cluster, 'data'),
    password: join(cluster, 'password'),
    lock: join(cluster, 'data', 'postmaster.pid'),
  }
}

/** Where a process makes a cluster, until it is complete. */
export function unfinishedCluster(directory: string, pid: number): string {
  return join(directory, `cluster-unfinished-${pid}`)
}

/** The process that makes, or made, the unfinished cluster of this name. */
export function makerOfUnfinishedCluster(name: string): number | undefined {
  const pid = /^cluster-unfinished-(\d+)$/.exec(name)?.[1]
  return pid === undefined ? undefined : Number(pid)
}

/** Whether a name in the directory is one of those above. */
export function isPostgresFile(name: string): boolean {
  return name === 'cluster' || makerOfUnfinishedCluster(name) !== undefined
}

/** The administrator of every embedded server. */
export const databaseUser = 'isobot'
