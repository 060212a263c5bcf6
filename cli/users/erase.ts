import { setTimeout as pause } from 'node:timers/promises'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection } from '../connection.ts'
import { failed } from '../failure.ts'
import { table, type Output } from '../output.ts'

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
  const wait = async () => {
    while (seen.status === 'pending' || seen.status === 'in_progress') {
      await pause(lookMilliseconds)
      seen = (await connection.ask<'getDataRequest'>('GET', pathOf(seen.id))).dataRequest
    }
  }
  await output.during(() => `Erasing: ${sum(seen.erased)} rows erased, ${seen.searchedRows} searched`, wait())
  if (seen.status === 'failed') throw failed(seen.failure ?? 'The erasure failed')
  return seen
}

/** The addresses of the rows that name the person. */
export function listFindings(connection: Connection, id: string): Promise<Finding[]> {
  return Array.fromAsync(connection.list<Finding>(`${pathOf(id)}/findings`, 'findings'))
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
