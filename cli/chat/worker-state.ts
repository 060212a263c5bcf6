import type { WorkerState } from '#shared/monitoring/queue-stats.ts'
import type { Connection } from '../connection.ts'

/** Message and remedy for each state in which the workers handle nothing. */
export const workerProblems: Record<Exclude<WorkerState, 'available'>, { message: string; remedy: string }> = {
  missing: {
    message: 'No worker is alive: messages are stored, but the bot does not answer',
    remedy: 'start one with `isobot start` on this machine, or as the process `worker` of the Procfile',
  },
  stalled: {
    message: 'A worker is alive but takes no events: the bot does not answer',
    remedy: 'check in the worker’s log that it reaches Redis and PostgreSQL, and restart it',
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
  return problem && `${problem.message}. Remedy: ${problem.remedy}`
}
