import type { WorkerState } from '#shared/monitoring/queue-stats.ts'
import type { Connection } from '../connection.ts'

/** Message and remedy for each state in which the workers handle nothing. */
export const workerProblems: Record<Exclude<WorkerState, 'available'>, { message: string; remedy: string }> = {
  missing: {
    message: 'No worker is alive: what is said is stored, and nobody answers',
    remedy: 'start one: `isobot start` on this machine, or the process `worker` of the Procfile',
  },
  stalled: {
    message: 'A worker is alive and takes nothing, although events wait: nobody answers',
    remedy: 'see the log of the worker, whether it reaches Redis and PostgreSQL, and start it again',
  },
}

/** The problem of a platform's workers; undefined when they work or their state cannot be read. */
export async function findWorkerProblem({ ask }: Pick<Connection, 'ask'>) {
  const answer = await ask<'getQueue'>('GET', '/v1/admin/queue').catch(() => undefined)
  const state = answer?.queue.workerState ?? 'available'
  return state === 'available' ? undefined : workerProblems[state]
}

/** The problem of a platform's workers as text for people. */
export async function describeWorkerProblem(connection: Pick<Connection, 'ask'>): Promise<string | undefined> {
  const problem = await findWorkerProblem(connection)
  return problem && `${problem.message}. To mend it, ${problem.remedy}`
}
