import { setTimeout as pause } from 'node:timers/promises'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection } from '../connection.ts'
import { failed, Failure } from '../failure.ts'
import { table, type Output } from '../output.ts'
import { throughOutages } from '../through-outages.ts'

type DataRequest = AnswerOf<'getDataRequest'>['dataRequest']
type Finding = AnswerOf<'listDataFindings'>['findings'][number]

const lookMilliseconds = 500

/** Asks for an erasure and waits for its end. It goes on in the workers when the command is interrupted. */
export async function eraseAndWait(
  connection: Connection,
  output: Output,
  body: Record<string, unknown>,
): Promise<DataRequest> {
  let { dataRequest: seen } = await connection.ask<'eraseUser'>('POST', '/v1/admin/users/erase', { body })
  const { id } = seen
  const path = pathOf(id)
  output.note(`The erasure is the data request ${id}, which goes on if this command is interrupted`)
  const wait = async () => {
    while (seen.status === 'pending' || seen.status === 'in_progress') {
      await pause(lookMilliseconds)
      seen = (await throughOutages(() => connection.ask<'getDataRequest'>('GET', path))).dataRequest
    }
  }
  const erasing = wait().catch((error: unknown) => {
    throw withRequest(error, 'which goes on', id)
  })
  await output.during(() => `Erasing: ${sum(seen.erased)} rows erased, ${seen.searchedRows} searched`, erasing)
  if (seen.status === 'failed') throw failed(seen.failure ?? 'The erasure failed', { details: { dataRequestId: id } })
  return seen
}

/** The failure after a request was accepted, by whose id its outcome can be read. */
function withRequest(error: unknown, state: string, id: string): unknown {
  if (!(error instanceof Failure)) return error
  const { exitCode, message, type, details } = error
  return new Failure(
    exitCode,
    `${message}. The erasure is the data request ${id}, ${state}: GET ${pathOf(id)} shows it`,
    {
      cause: error,
      ...(type !== undefined && { type }),
      details: { ...details, dataRequestId: id },
    },
  )
}

/** The addresses of the rows that name the person. */
export async function listFindings(connection: Connection, id: string): Promise<Finding[]> {
  const read = () => Array.fromAsync(connection.list<Finding>(`${pathOf(id)}/findings`, 'findings'))
  return throughOutages(read).catch((error: unknown) => {
    throw withRequest(error, 'which is completed', id)
  })
}

export function formatErasure({ id, userIds, erased }: DataRequest, findings: readonly Finding[]): string {
  const counts = Object.entries(erased)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`)
  const lines = [
    `Erased ${userIds.length === 1 ? 'one user' : `${userIds.length} users`}${userIds.map((user) => ` ${user}`).join('')}`,
    counts.length === 0 ? 'No rows were erased' : `Erased rows: ${counts.join(', ')}`,
  ]
  if (findings.length === 0) return [...lines, 'No other row names the person'].join('\n')
  const rows = findings.map(({ kind, botId, address }) => [kind, botId, JSON.stringify(address)])
  return [
    ...lines,
    findings.length === 1 ? 'One other row names the person:' : `${findings.length} other rows name the person:`,
    table(['KIND', 'BOT', 'ADDRESS'], rows),
    `Erase what is listed by POST /v1/admin/data-requests/${id}/findings/erase, or by this command with --findings`,
  ].join('\n')
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}

function pathOf(id: string): string {
  return `/v1/admin/data-requests/${encodeURIComponent(id)}`
}
