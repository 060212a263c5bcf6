import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../support/platform.ts'
import { Processes } from '../support/processes.ts'

const rowCount = 30_000
const processes = new Processes()
let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ backEnd: 'postgres', worker: false, environment: { WORKER_SWEEP_SECONDS: '1' } })
})
afterAll(async () => {
  await processes.stop()
  await platform[Symbol.asyncDispose]()
})

test('an import whose worker is killed is continued by another one, and no record is stored twice', async () => {
  const { id: botId } = await platform.createBot()
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await platform.ask(method, path, body, { 'x-bot-id': botId })
    expect(answer.status).toBe(200)
    return answer.body
  }
  await ask('POST', '/v1/tables', { name: 'KilledTable', schema: { number: { type: 'number' } } })
  const { file } = await ask('PUT', '/v1/files', { key: 'numbers.csv', size: 0 })
  const content = `number\n${Array.from({ length: rowCount }, (_, index) => index).join('\n')}\n`
  await fetch(file.uploadUrl, { method: 'PUT', body: content })
  const { job } = await ask('POST', '/v1/tables/KilledTable/import', { fileId: 'numbers.csv' })
  const doneRecords = async () => Number((await platform.context.db('table_jobs').where({ id: job.id }).first())?.done)

  const victim = await processes.start(platform, 'worker')
  await expect.poll(doneRecords, { timeout: 30_000, interval: 5 }).toBeGreaterThan(0)
  process.kill(victim.pid, 'SIGKILL')
  await expect.poll(() => victim.stop()).toMatchObject({ signal: 'SIGKILL' })
  expect(await doneRecords()).toBeLessThan(rowCount)

  await processes.start(platform, 'worker')
  const status = async () => (await ask('GET', '/v1/tables/KilledTable/jobs')).jobs[0].status
  await expect.poll(status, { timeout: 60_000 }).toBe('completed')
  const [counted] = (await platform.context
    .db('table_rows')
    .where({ table_id: job.tableId })
    .select(platform.context.db.raw(`count(*)::integer as rows, count(distinct data)::integer as numbers`))) as object[]
  expect(counted).toEqual({ rows: rowCount, numbers: rowCount })
}, 120_000)
