import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Redis } from 'ioredis'
import { openContext } from '#shared/context.ts'
import { nextTime } from '#shared/integrations/register-schedule.ts'
import { newRegistration, registerBySchedule, registrationEnded } from '#shared/integrations/registration.ts'
import { deleteRemovable } from '#shared/store/installations.ts'
import { claimNextEvents } from '#shared/store/mailboxes.ts'
import {
  configureInstalledIntegration,
  insertRegistration,
  type RegistrationType,
} from '#shared/store/registrations.ts'
import type { EventRow, InstallationRow } from '#shared/models/tables.ts'
import { startRegisterTick } from '../../../worker/periodic/register-tick.ts'
import { startWorker } from '../../../worker/worker.ts'
import { installCode, logOf } from '../../support/install-code.ts'
import { installIntegration, storeIntegration } from '../../support/install-integration.ts'
import { backEnds, openPlatform, type Platform } from '../../support/platform.ts'
import { startRedis } from '../../support/redis.ts'

const hour = 60 * 60 * 1000

/** How an installation's row is when its register() is due since then. */
function dueSince(time: Date): Partial<InstallationRow> {
  return { schedule: 'hourly', schedule_from: new Date(time.getTime() - 5 * hour), next_register_at: time }
}

function find({ context }: Platform, { id }: Pick<InstallationRow, 'id'>): Promise<InstallationRow> {
  return context.db('installations').where({ id }).first() as Promise<InstallationRow>
}

function events({ context }: Platform, { id }: Pick<InstallationRow, 'id'>): Promise<EventRow[]> {
  return context.db('events').where({ installation_id: id }).orderBy(['created_at', 'id'])
}

function request({ context }: Platform, installation: InstallationRow, type?: RegistrationType): Promise<void> {
  return insertRegistration(context.db, newRegistration(context.config, installation, type))
}

async function claim(
  { context }: Platform,
  { id }: Pick<InstallationRow, 'id'>,
): Promise<EventRow & { installation_id: string }> {
  const [event] = await claimNextEvents(context.db, [id])
  return { ...event!, installation_id: id }
}

describe('without a worker', () => {
  let platform: Platform
  let integrationId: string
  beforeAll(async () => {
    platform = await openPlatform({ worker: false })
    integrationId = await storeIntegration(platform)
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  async function install(fields: Partial<InstallationRow>): Promise<InstallationRow> {
    const bot = await platform.createBot()
    return installIntegration(platform, bot.id, integrationId, fields)
  }

  test('a due registration gets one event and its next time, for any number of missed times', async () => {
    const due = new Date(Date.now() - 100.5 * hour)
    const installation = await install(dueSince(due))
    await registerBySchedule(platform.context)
    await registerBySchedule(platform.context)
    expect(await events(platform, installation)).toMatchObject([
      {
        bot_id: installation.bot_id,
        mailbox: installation.id,
        type: 'register',
        status: 'pending',
        payload: { webhookUrl: `${platform.url}/webhooks/${installation.webhook_id}` },
      },
    ])
    const { next_register_at: next } = await find(platform, installation)
    expect(next).toEqual(new Date(due.getTime() + 101 * hour))
  })

  test.each<[string, Partial<InstallationRow>]>([
    ['not due yet', dueSince(new Date(Date.now() + 0.5 * hour))],
    ['disabled', { ...dueSince(new Date(Date.now() - hour)), enabled: false }],
    ['being removed', { ...dueSince(new Date(Date.now() - hour)), status: 'unregistration_pending' }],
    ['not to be registered again', {}],
  ])('what is %s is left alone', async (_what, fields) => {
    const installation = await install(fields)
    await registerBySchedule(platform.context)
    expect(await events(platform, installation)).toEqual([])
    expect((await find(platform, installation)).next_register_at).toEqual(installation.next_register_at)
  })

  test('a schedule begins when it is set and not a moment later, or it would be due at once', async () => {
    const installation = await install({})
    const key = { botId: installation.bot_id, id: installation.id }
    for (const schedule of Array.from({ length: 10 }, () => ['daily', 'weekly'] as const).flat()) {
      await platform.context.db.transaction(async (transaction) => {
        await configureInstalledIntegration(transaction, key, { schedule })
        const begun = transaction('installations').where({ id: installation.id }).whereRaw('schedule_from <= now()')
        expect(await begun).toHaveLength(1)
      })
    }
  })

  test('a waiting event serves the time that has come', async () => {
    const installation = await install(dueSince(new Date(Date.now() - 1000)))
    await request(platform, installation)
    await registerBySchedule(platform.context)
    expect(await events(platform, installation)).toHaveLength(1)
    expect((await find(platform, installation)).next_register_at!.getTime()).toBeGreaterThan(Date.now())
  })

  /** Of one bot: more than are seen to in one transaction. */
  async function installManyDue() {
    const bot = await platform.createBot()
    const due = dueSince(new Date(Date.now() - 1000))
    const installations = await Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        installIntegration(platform, bot.id, integrationId, { ...due, alias: `tool${index}` }),
      ),
    )
    const registering = () =>
      platform.context.db('events').where({ bot_id: bot.id }).orderBy('mailbox').pluck('mailbox')
    return { ids: installations.map(({ id }) => id).toSorted(), registering }
  }

  test('all that is due is registered in one look, however much it is', async () => {
    const { ids, registering } = await installManyDue()
    await registerBySchedule(platform.context)
    expect(await registering()).toEqual(ids)
  })

  test('two workers that look at once register each once, and leave none out', async () => {
    const { ids, registering } = await installManyDue()
    await using other = openContext(platform.context.config, platform.context.log)
    await Promise.all([platform.context, other, platform.context, other].map((context) => registerBySchedule(context)))
    // The others pass over rows that one has taken, which are planned all the same.
    expect(await registering()).toEqual(ids)
  })

  test('a bot that is being deleted is passed over', async () => {
    const installation = await install(dueSince(new Date(Date.now() - 1000)))
    const { db } = platform.context
    await db.transaction(async (transaction) => {
      await transaction('bots').where({ id: installation.bot_id }).forUpdate()
      await registerBySchedule(platform.context)
    })
    expect(await events(platform, installation)).toEqual([])
    await registerBySchedule(platform.context)
    expect(await events(platform, installation)).toHaveLength(1)
  })

  test('a schedule whose job was lost, or whose time came from a clock that was set back, is restored by the tick', async () => {
    const from = new Date(Date.now() - 10 * 24 * hour)
    const unplanned = await install({ schedule: 'monthly', schedule_from: from })
    const ahead = await install({ ...dueSince(new Date(Date.now() + 3 * hour)), schedule: 'hourly' })
    const fromAhead = new Date(Date.now() + 40 * 24 * hour)
    const farAhead = await install({ schedule: 'weekly', schedule_from: fromAhead, next_register_at: fromAhead })
    const stop = startRegisterTick(platform.context)
    try {
      for (const [installation, schedule] of [
        [unplanned, 'monthly'],
        [ahead, 'hourly'],
        [farAhead, 'weekly'],
      ] as const) {
        const expected = nextTime(schedule, installation.schedule_from!, new Date())
        await expect
          .poll(async () => (await find(platform, installation)).next_register_at, { timeout: 10_000 })
          .toEqual(expected)
        expect(await events(platform, installation)).toEqual([])
      }
    } finally {
      await stop()
    }
  })

  describe('a run', () => {
    test('that fails shows on the installation and is tried again after twice the time, until one succeeds', async () => {
      const installation = await install({
        schedule: 'yearly',
        schedule_from: new Date(Date.now() - 1000),
        next_register_at: new Date(Date.now() + 300 * 24 * hour),
      })
      await request(platform, installation)
      const event = await claim(platform, installation)
      for (const minutes of [1, 2, 4, 8]) {
        // Once it is due again, the next time is the regular one, until this run has failed too.
        await platform.context
          .db('installations')
          .where({ id: installation.id })
          .update({ next_register_at: new Date() })
        await registerBySchedule(platform.context)
        const before = Date.now()
        const [line] = await registrationEnded(platform.context, event, {
          status: 'failed',
          failureReason: 'no\u0000pe',
        })
        const row = await find(platform, installation)
        expect(row).toMatchObject({ status: 'registration_failed', status_reason: 'no\uFFFDpe' })
        const wait = row.next_register_at!.getTime() - before
        expect(wait / 60_000).toBeCloseTo(minutes, 0)
        expect(line).toMatchObject({
          level: 'error',
          message: expect.stringMatching(/^register\(\) of the integration 'tool' failed: .*; next try at 2/),
        })
      }
      expect(await registrationEnded(platform.context, event, { status: 'processed' })).toMatchObject([
        { level: 'info', message: expect.stringContaining(`'tool'`) },
      ])
      expect(await find(platform, installation)).toMatchObject({
        status: 'registered',
        status_reason: null,
        register_failures: 0,
      })
    })

    test('that fails is tried again at its regular time at the latest, and not at all without a schedule', async () => {
      const soon = new Date(Date.now() + 30_000)
      const scheduled = await install(dueSince(soon))
      const once = await install({ status: 'registration_pending' })
      for (const installation of [scheduled, once]) {
        await request(platform, installation)
        await registrationEnded(platform.context, await claim(platform, installation), { status: 'failed' })
      }
      expect((await find(platform, scheduled)).next_register_at).toEqual(soon)
      expect(await find(platform, once)).toMatchObject({ status: 'registration_failed', next_register_at: null })
    })

    test('that a newer one has taken over shows nothing', async () => {
      const installation = await install({ status: 'registration_pending' })
      await request(platform, installation)
      const older = await claim(platform, installation)
      const newer = await claim(platform, installation)
      expect(await registrationEnded(platform.context, older, { status: 'failed' })).toEqual([])
      expect(await find(platform, installation)).toMatchObject({ status: 'registration_pending' })
      expect(await registrationEnded(platform.context, newer, { status: 'ignored' })).toHaveLength(1)
      expect(await find(platform, installation)).toMatchObject({ status: 'registered' })
    })

    test('of register() does not undo that the integration is to unregister, which ends in its own way', async () => {
      const installation = await install({ status: 'unregistration_pending' })
      await request(platform, installation)
      await request(platform, installation, 'unregister')
      const register = await claim(platform, installation)
      await registrationEnded(platform.context, register, { status: 'processed' })
      expect(await find(platform, installation)).toMatchObject({ status: 'unregistration_pending' })
      await platform.context
        .db('events')
        .where({ id: register.id })
        .update({ status: 'processed', ended_at: new Date() })
      const unregister = await claim(platform, installation)
      expect(unregister.type).toBe('unregister')
      await registrationEnded(platform.context, unregister, { status: 'failed', failureReason: 'still needed' })
      expect(await find(platform, installation)).toMatchObject({
        status: 'unregistration_failed',
        status_reason: 'still needed',
      })
      await registrationEnded(platform.context, unregister, { status: 'processed' })
      expect(await find(platform, installation)).toMatchObject({ status: 'unregistered', status_reason: null })
    })

    test('of an integration that is removed, installed and removed again removes it after the last one only', async () => {
      const removed = { status: 'unregistration_pending', removal_requested_at: new Date() } as const
      const installation = await install(removed)
      const { db } = platform.context
      for (const type of ['unregister', 'register', 'unregister'] as const) await request(platform, installation, type)
      const seen: unknown[] = []
      for (let count = 0; count < 3; count++) {
        const event = await claim(platform, installation)
        await registrationEnded(platform.context, event, { status: 'processed' })
        await db('events').where({ id: event.id }).update({ status: 'processed', ended_at: new Date() })
        const { status } = await find(platform, installation)
        seen.push([event.type, status, await deleteRemovable(db, { botId: installation.bot_id, id: installation.id })])
      }
      expect(seen).toEqual([
        ['unregister', 'unregistration_pending', false],
        ['register', 'unregistration_pending', false],
        ['unregister', 'unregistered', true],
      ])
    })
  })
})

describe.each(backEnds)('with a worker on %s', (backEnd) => {
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ backEnd })
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  const becomesDue = (id: string) =>
    platform.context.db('installations').where({ id }).update({ next_register_at: new Date() })

  test('an integration that configures itself as it registers registers again, each time in the bot’s log', async () => {
    const bot = await platform.createBot()
    const { integrationId, status } = await installCode(
      platform,
      bot.id,
      `let calls = 0
       export async function register({ client, logger, ctx }) {
         logger.info(ctx.integrationAlias + ' ' + ++calls)
         await client.configureIntegration({ identifier: 'of ' + ctx.botId, scheduleRegisterCall: 'hourly' })
       }`,
    )
    expect(status).toBe('registered')
    const installation = await platform.context.db('installations').where({ integration_id: integrationId }).first()
    const { id } = installation!
    await expect.poll(async () => (await find(platform, { id })).next_register_at).not.toBeNull()
    const { next_register_at: first, schedule_from: from } = await find(platform, { id })
    expect(first).toEqual(new Date(from!.getTime() + hour))
    for (const runs of [2, 3]) {
      await becomesDue(id)
      await expect
        .poll(async () => (await events(platform, { id })).map(({ status }) => status), { timeout: 30_000 })
        .toEqual(Array.from({ length: runs }, () => 'processed'))
      expect(await find(platform, { id })).toMatchObject({
        status: 'registered',
        identifier: `of ${bot.id}`,
        schedule_from: from,
        next_register_at: first,
      })
    }
    const through = `info register() of the integration 'tool' succeeded`
    const lines = [1, 2, 3].flatMap((call) => [`info tool ${call}`, through])
    expect(await logOf(platform, bot.id)).toEqual(lines)
  })

  test('one that fails is shown as failed, tried again when that is due, and then registered', async () => {
    const failing = `export function register() { throw new Error('the service is away') }`
    const bot = await platform.createBot()
    const due = dueSince(new Date(Date.now() - 1000))
    const { id } = await installIntegration(platform, bot.id, await storeIntegration(platform, failing), due)
    await expect
      .poll(() => find(platform, { id }), { timeout: 30_000 })
      .toMatchObject({ status: 'registration_failed', status_reason: expect.stringContaining('the service is away') })
    const { next_register_at: next } = await find(platform, { id })
    expect(next!.getTime()).toBeLessThan(Date.now() + 60_000)
    await expect
      .poll(() => logOf(platform, bot.id))
      .toContainEqual(
        expect.stringMatching(/^error register\(\) of the integration 'tool' failed: .*the service is away/),
      )
    const integrationId = await storeIntegration(platform)
    await platform.context.db('installations').where({ id }).update({ integration_id: integrationId })
    await becomesDue(id)
    await expect
      .poll(() => find(platform, { id }), { timeout: 30_000 })
      .toMatchObject({ status: 'registered', status_reason: null, register_failures: 0 })
  })
})

test('a flushed Redis loses no time, and neither does one that comes while no worker runs', async () => {
  const server = await startRedis()
  const redis = new Redis(server.url)
  try {
    await using platform = await openPlatform({
      worker: false,
      environment: { REDIS_URL: server.url, WORKER_SWEEP_SECONDS: '1' },
    })
    const bot = await platform.createBot()
    const integrationId = await storeIntegration(platform)
    const missed = await installIntegration(platform, bot.id, integrationId, dueSince(new Date(Date.now() - 8 * hour)))
    const asked = await installIntegration(platform, bot.id, await storeIntegration(platform), {
      alias: 'asked',
      ...dueSince(new Date(Date.now() + 0.5 * hour)),
    })
    await request(platform, asked)
    await redis.flushall()
    await using worker = await startWorker(platform.context)
    expect(worker).toBeDefined()
    for (const installation of [missed, asked]) {
      await expect
        .poll(async () => (await events(platform, installation)).map(({ status }) => status), { timeout: 30_000 })
        .toEqual(['processed'])
    }
    await redis.flushall()
    await platform.context.db('installations').where({ id: asked.id }).update({ next_register_at: new Date() })
    await expect
      .poll(async () => (await events(platform, asked)).map(({ status }) => status), { timeout: 30_000 })
      .toEqual(['processed', 'processed'])
    expect(await events(platform, missed)).toHaveLength(1)
  } finally {
    redis.disconnect()
    await server.stop()
  }
})
