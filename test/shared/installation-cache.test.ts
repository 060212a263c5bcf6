import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openInstallations, type Installations } from '#shared/installation-cache.ts'
import { chatConfigurationOf } from '#shared/models/chat-configuration.ts'
import { openSignals } from '#shared/signals/signals.ts'
import { configureInstallation } from '#shared/store/installations.ts'
import { openPlatform, type DeployedBot, type Platform } from '../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** The installations in the memory of a process that neither sends nor receives signals. */
async function openWithoutSignals(): Promise<Installations> {
  const { dependencies, config, log, db } = platform.context
  const signals = openSignals(dependencies, db, log)
  await signals.close()
  return openInstallations(config, log, db, signals)
}

async function encryptionKeyOf(installations: Installations, bot: DeployedBot): Promise<string | undefined> {
  const found = await installations.find(bot.webhookId)
  return found && chatConfigurationOf(found).encryptionKey
}

/** Configures a bot's chat without telling anybody. */
async function configure(bot: DeployedBot, encryptionKey: string): Promise<void> {
  const { db, config } = platform.context
  const row = await db('installations').where({ bot_id: bot.id }).first('id')
  await configureInstallation(db, config.secret, { botId: bot.id, id: row!.id, configuration: { encryptionKey } })
}

describe('without signals, a process', () => {
  test('goes by its own changes at once', async () => {
    const [installations, bot] = [await openWithoutSignals(), await platform.createBot()]
    await configure(bot, 'one')
    expect(await encryptionKeyOf(installations, bot)).toBe('one')
    await configure(bot, 'another')
    await installations.changed(bot.webhookId)
    expect(await encryptionKeyOf(installations, bot)).toBe('another')
  })

  test('does not remember what it read while something changed', async () => {
    const [installations, bot] = [await openWithoutSignals(), await platform.createBot()]
    const reading = encryptionKeyOf(installations, bot)
    await installations.changed(bot.webhookId)
    await reading
    await configure(bot, 'one')
    expect(await encryptionKeyOf(installations, bot)).toBe('one')
  })

  test('goes by what others change within seconds, and asks the database but now and then', async () => {
    const [installations, bot] = [await openWithoutSignals(), await platform.createBot()]
    await installations.find(bot.webhookId)
    await configure(bot, 'one')
    expect(await encryptionKeyOf(installations, bot)).toBeUndefined()
    await expect.poll(() => encryptionKeyOf(installations, bot), { timeout: 6000 }).toBe('one')
  })
})
