import type { Config } from './config.ts'

/** Connections of a process that adds jobs to a queue in PostgreSQL. */
export const sendingConnections = 1
/** Connections of a worker that waits for jobs of a queue in PostgreSQL. */
export const listeningConnections = 1
/** Connections of every process for pings and notifications (`shared/store/listen-connection.ts`). */
const listenConnections = 1

/** The most PostgreSQL connections that a process holds at one time, by purpose. */
export interface ConnectionBudget {
  statements: number
  queue: number
  listenConnection: number
  total: number
}

/** Computes the budget of a process. The pools open connections as they need them. */
export function connectionBudget({ database, redis }: Config, process: 'api' | 'worker'): ConnectionBudget {
  const receiving = process === 'worker' ? database.queueSize + listeningConnections : 0
  const queue = redis ? 0 : sendingConnections + receiving
  const statements = database.poolSize
  return { statements, queue, listenConnection: listenConnections, total: statements + queue + listenConnections }
}
