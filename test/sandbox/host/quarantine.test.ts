import { beforeEach, afterEach, describe, expect, test } from 'vitest'
import type { Outcome, RunRequest, CodeSuspension } from '#sandbox/protocol/contract.ts'
import { bot, botThat, callRun, messageRun, openTestSandbox, patientHost, type TestSandbox } from '../fixture.ts'
import { isRunning } from '../running.ts'

const patience = { timeout: 20_000 }

/** Nothing stops such a search but the end of the process. */
const killing = `new Array(2 ** 32 - 2).indexOf(1)`
const little = { cpuMilliseconds: 50 }

let sandbox: TestSandbox
let suspensions: CodeSuspension[]
/** Processes that were killed, by their number. */
let killed: number[]
beforeEach(async () => {
  suspensions = []
  killed = []
  sandbox = await openTestSandbox({
    onSuspension: (suspension) => suspensions.push(suspension),
    log: (_level, message, details) => {
      if (message === 'A sandbox process is killed') killed.push((details as { sandboxPid: number }).sandboxPid)
    },
  })
})
afterEach(() => sandbox.close())

/** Runs what kills its process. A run that begins in the moment in which a process ends is interrupted, and begun again. */
async function kill(run: () => RunRequest): Promise<Outcome> {
  const outcome = await sandbox.run(run())
  return outcome.status === 'interrupted' ? kill(run) : outcome
}

describe('code that kills its sandbox process again and again', () => {
  test('is alone after the third time, and runs no more after the sixth; another version of it does', async () => {
    const killer = { ...botThat(`if (event.preview !== 'good') { ${killing} }`), codeId: 'version 1' }
    for (let time = 0; time < 3; time += 1)
      expect(await kill(() => messageRun(killer, { limits: little }))).toMatchObject({
        status: 'failed',
        reason: 'cpu',
      })
    await expect.poll(() => suspensions, patience).toMatchObject([{ botId: killer.botId, placement: 'quarantine' }])

    // The process that is back at its home is not the one it runs in from now on.
    const { host, calls, answer } = patientHost()
    const neighbour = sandbox.run(messageRun(botThat(`await client.createMessage({})`), { host }))
    await expect.poll(() => calls.length, patience).toBe(1)
    const home = sandbox.pid()
    const good = { event: { preview: 'good' }, limits: little }
    expect((await sandbox.run(messageRun(killer, good))).status).toBe('done')

    for (let time = 0; time < 3; time += 1)
      expect(await kill(() => messageRun(killer, { limits: little }))).toMatchObject({
        status: 'failed',
        reason: 'cpu',
      })
    await expect.poll(() => suspensions.length, patience).toBe(2)
    expect(suspensions[1]).toMatchObject({ botId: killer.botId, codeId: 'version 1', placement: 'disabled' })
    const { reason } = suspensions[1]!
    expect(await sandbox.run(messageRun(killer, good))).toMatchObject({
      status: 'failed',
      reason: 'crashed',
      error: { name: 'QuarantineError', message: reason },
    })
    expect(killed).toHaveLength(6)

    const mended = { ...botThat(''), botId: killer.botId, codeId: 'version 2' }
    expect((await sandbox.run(messageRun(mended))).status).toBe('done')
    answer(0)
    expect((await neighbour).status).toBe('done')
    expect(isRunning(home)).toBe(true)
  })

  test('takes no action down that it is called by from the process at home, nor the other way round', async () => {
    const killer = { ...bot(`exports.handler = () => { ${killing} }`), installationId: 'installation' }
    for (let time = 0; time < 3; time += 1) {
      expect(await kill(() => callRun(killer, {}, { limits: little }))).toMatchObject({
        status: 'failed',
        reason: 'cpu',
      })
    }
    await expect
      .poll(() => suspensions, patience)
      .toMatchObject([{ installationId: 'installation', placement: 'quarantine' }])
    const own = { ...botThat(`await client.callAction({})`), botId: killer.botId }
    let inner
    const host = async () => {
      inner = await sandbox.run(callRun(killer, {}, { limits: little }))
      return { status: 500, body: {} }
    }
    expect(await sandbox.run(messageRun(own, { host }))).toMatchObject({ status: 'failed', reason: 'error' })
    expect(inner).toMatchObject({ status: 'failed', reason: 'cpu' })
    expect(suspensions).toHaveLength(1)
  })
})
