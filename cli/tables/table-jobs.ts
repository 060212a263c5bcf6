import { setTimeout } from 'node:timers/promises'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection } from '../connection.ts'
import { failed, type Failure } from '../failure.ts'
import { throughOutages } from '../through-outages.ts'

/** A job of a table. */
export type Job = AnswerOf<'importTable'>['job']

const pollMilliseconds = 250

export async function startImport({ ask }: Connection, botId: string, tableId: string, fileId: string): Promise<Job> {
  return (await ask<'importTable'>('POST', `${pathOf(tableId)}/import`, { body: { fileId }, botId })).job
}

export async function startExport(
  { ask }: Connection,
  botId: string,
  tableId: string,
  query: { format: string; compress: boolean },
): Promise<Job> {
  return (await ask<'exportTable'>('GET', `${pathOf(tableId)}/export`, { query, botId })).job
}

/**
 * Waits until a job has ended.
 *
 * @param watch is called with each state of it
 * @throws Failure when it has failed, or not ended at the deadline
 */
export async function untilEnded(
  { ask }: Connection,
  begun: Job,
  deadline: number,
  watch: (job: Job) => void,
): Promise<Job> {
  const { id, botId, tableId, type } = begun
  for (;;) {
    const read = () => ask<'getTableJobs'>('GET', `${pathOf(tableId)}/jobs`, { botId })
    const { jobs } = await throughOutages(read)
    const job = jobs.find((one) => one.id === id)
    if (!job) throw failed(`The ${type} (${id}) is gone: its table was deleted`, { type: 'ResourceNotFound' })
    watch(job)
    const details = { job }
    if (job.status === 'completed') return job
    if (job.status === 'failed') throw failed(`The ${type} failed: ${job.failedStatusReason}`, { details })
    if (Date.now() > deadline) {
      throw failed(`The ${type} (${id}) has not ended yet, and goes on: it is at ${job.progress} %`, {
        type: 'Timeout',
        details,
      })
    }
    await setTimeout(pollMilliseconds)
  }
}

/** Whether a failure is the end of a job, which does not go on. */
export function isEnd({ type, details }: Failure): boolean {
  return type === 'ResourceNotFound' || (details?.['job'] as Partial<Job> | undefined)?.status === 'failed'
}

function pathOf(tableId: string): string {
  return `/v1/tables/${encodeURIComponent(tableId)}`
}
