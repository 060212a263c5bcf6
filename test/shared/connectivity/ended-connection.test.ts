import { expect, test } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { openContext } from '#shared/context.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { openLinkTo } from '../../chaos/network.ts'
import { administer, createDatabase } from '../../support/databases.ts'

test('a database that ends the connection of a ping in flight stays available, and fails no other work', async () => {
  await using parts = new AsyncDisposableStack()
  const { url } = parts.adopt(await createDatabase(), (open) => open.drop())
  const { link, url: linked } = await openLinkTo(url)
  parts.use(link)
  const config = readConfig({ DATABASE_URL: linked, ISOBOT_SECRET: 'a secret of at least thirty-two characters' })
  const { dependencies } = parts.use(openContext(config, createLogger('test', 'silent')))
  const { database } = dependencies
  expect(await database.check(10_000)).toBe(true)

  const work = Promise.withResolvers<string>()
  const inFlight = database.failFast(() => work.promise)
  link.silence()
  const checked = database.check(10_000)
  const name = new URL(url).pathname.slice(1)
  await administer(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`,
  )
  link.mend()
  expect(await checked).toBe(true)
  work.resolve('done')
  expect(await inFlight).toBe('done')
})
