import type { Config } from '#shared/config/config.ts'
import { aliveMilliseconds, workerStateOf } from '#shared/monitoring/queue-stats.ts'
import { readBacklog } from '#shared/store/backlog.ts'
import { openDatabase } from '#shared/store/database.ts'
import { liveWorkers } from '#shared/store/workers.ts'
import { connect } from '../connection.ts'
import type { Profile } from '../profiles.ts'
import { findWorkerProblem, workerProblems } from '../chat/worker-state.ts'
import { findingsOf, type Finding } from './finding.ts'

const { ok, warn } = findingsOf('Workers')

/** Checks that workers are alive and take waiting events. `checkDatabase` reports an unusable database. */
export async function checkWorkers({ database }: Config): Promise<Finding[]> {
  const db = openDatabase({ ...database, poolSize: 1 })
  try {
    const [workers, backlog] = await Promise.all([liveWorkers(db, aliveMilliseconds), readBacklog(db)])
    const slotsInUse = workers.reduce((sum, worker) => sum + worker.in_use, 0)
    const { oldestSeconds: oldestWaitingSeconds, waiting } = backlog
    const state = workerStateOf({ workers: workers.length, slotsInUse, oldestWaitingSeconds })
    if (state !== 'available') return [warn(workerProblems[state].message, workerProblems[state].remedy)]
    return [ok(`${workers.length} workers are alive, ${slotsInUse} slots are in use, ${waiting} events wait`)]
  } catch {
    return []
  } finally {
    await db.destroy()
  }
}

/** The same check for the platform of `isobot start`, by HTTP. `checkAddress` reports a platform that does not run. */
export async function checkOwnWorkers(profile: Omit<Profile, 'name'>): Promise<Finding[]> {
  try {
    const connection = await connect({ ...profile, name: 'local' })
    await connection.ask('GET', '/v1/admin/queue')
    const problem = await findWorkerProblem(connection)
    return [problem ? warn(problem.message, problem.remedy) : ok('Workers are alive')]
  } catch {
    return []
  }
}
