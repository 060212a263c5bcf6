import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { openContext } from '#shared/context.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { startEmbeddedPostgres } from '../../../cli/postgres/embedded-postgres.ts'
import { postgresFiles } from '../../../cli/postgres/files.ts'
import { administer } from '../../support/databases.ts'

test('a process whose database is a replica answers reads, and receives signals when that has become the primary', async () => {
  await using parts = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'isobot-replica-'))
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const start = () => startEmbeddedPostgres({ directory, log: () => {} })
  const primary = await start()
  await primary.stop()
  await writeFile(join(postgresFiles(directory).data, 'standby.signal'), '')
  const { url, stop } = await start()
  parts.defer(stop)

  const config = readConfig({ DATABASE_URL: url, ISOBOT_SECRET: 'a secret of at least thirty-two characters' })
  const { db, dependencies, signals } = parts.use(openContext(config, createLogger('test', 'silent')))
  await expect.poll(() => dependencies.database.check(1000)).toBe(true)
  expect((await db.raw('select pg_is_in_recovery() as value')).rows).toEqual([{ value: true }])
  expect(dependencies.database.isUp()).toBe(true)

  await administer(url, 'select pg_promote()')
  let gaps = 0
  signals.onGap(() => (gaps += 1))
  const publishGap = async () => {
    await administer(url, `notify gap, '{}'`)
    return gaps
  }
  await expect.poll(publishGap, { timeout: 10_000 }).toBeGreaterThan(0)
}, 60_000)
