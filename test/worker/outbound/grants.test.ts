import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'
import { openGrants } from '../../../worker/outbound/grants.ts'

let platform: Platform
let bot: DeployedBot
beforeAll(async () => {
  platform = await openPlatform({ worker: false, environment: { DATABASE_POOL: '2' } })
  bot = await platform.createBot()
})
afterAll(() => platform[Symbol.asyncDispose]())

const grant = (net: string[]) => platform.context.db('bots').where({ id: bot.id }).update({ permissions: { net } })

test('hundreds who ask at one time hold one connection to the database, and leave the others free', async () => {
  const { db } = platform.context
  await grant(['example.com'])
  const find = openGrants(db)
  let statements = 0
  const count = ({ sql }: { sql: string }) => (statements += sql.includes('"bots"') ? 1 : 0)
  db.on('query', count)
  try {
    const first = find(bot.id)
    await Promise.resolve()
    const others = Array.from({ length: 500 }, () => find(bot.id))
    expect(await Promise.all([first, ...others])).toEqual(Array.from({ length: 501 }, () => ({ net: ['example.com'] })))
    expect(statements).toBeLessThanOrEqual(2)
  } finally {
    db.off('query', count)
  }
})

test('a grant that was taken back is not given to who asks afterwards, also while others are being answered', async () => {
  const find = openGrants(platform.context.db)
  await grant(['example.com'])
  const before = find(bot.id)
  await grant([])
  expect(await find(bot.id)).toEqual({ net: [] })
  expect((await before).net).toBeDefined()
})
