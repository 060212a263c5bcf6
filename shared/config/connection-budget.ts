import type { Config } from './config.ts'

/** Of a process that adds jobs to a queue in PostgreSQL. */
export const sendingConnections = 1
/** Of a worker whose queue is in PostgreSQL: it waits there for jobs. */
export const listeningConnections = 1
/** Of every process: it tells whether the database is there, and hears the signals (`shared/store/listen-connection.ts`). */
const lifelineConnections = 1

/** The most connections to PostgreSQL that a process has at one time, by what they are for. */
export interface ConnectionBudget {
  statements: number
  queue: number
  listenConnection: number
  total: number
}

/** Reckons up what a process may connect to PostgreSQL for. The pools open connections as they need them. */
export function connectionBudget({ database, redis }: Config, process: 'api' | 'worker'): ConnectionBudget {
  const receiving = process === 'worker' ? database.queueSize + listeningConnections : 0
  const queue = redis ? 0 : sendingConnections + receiving
  const statements = database.poolSize
  return { statements, queue, listenConnection: lifelineConnections, total: statements + queue + lifelineConnections }
}
