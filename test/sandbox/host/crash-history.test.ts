import { beforeEach, describe, expect, test } from 'vitest'
import { CrashHistory, type Owner } from '#sandbox/host/crash-history.ts'
import type { CodeSuspension } from '#sandbox/protocol/contract.ts'

const minute = 60_000
const killer: Owner = { botId: 'killer', codeId: 'version 1' }
const neighbour: Owner = { botId: 'neighbour', codeId: 'version 1' }

let now: number
let suspensions: CodeSuspension[]
let history: CrashHistory
beforeEach(() => {
  now = 1_000_000
  suspensions = []
  history = new CrashHistory(
    (suspension) => suspensions.push(suspension),
    () => now,
  )
})

function die(times: number, suspects: Owner[] = [killer], fromOutside = false): void {
  for (let time = 0; time < times; time += 1) history.exitedInSlot({ suspects, fromOutside })
}

function dieInQuarantine(times: number, owner = killer): void {
  for (let time = 0; time < times; time += 1) {
    history.exitedInQuarantine(owner, { suspects: [owner], fromOutside: false })
  }
}

const placementOf = (owner: Owner) => history.placementOf(owner).placement

describe('code at home', () => {
  test('is in quarantine after three kills in ten minutes, over all of its versions', () => {
    die(2)
    expect(placementOf(killer)).toBe('slot')
    now += 9 * minute
    die(1)
    expect(placementOf(killer)).toBe('quarantine')
    expect(placementOf({ ...killer, codeId: 'version 2' })).toBe('quarantine')
    expect(suspensions).toEqual([{ ...killer, placement: 'quarantine', reason: expect.stringContaining('10 minutes') }])
  })

  test('stays there when its kills are further apart', () => {
    for (let kill = 0; kill < 20; kill += 1) {
      die(1)
      now += 5 * minute + 1
    }
    expect(placementOf(killer)).toBe('slot')
  })

  test('is distinguished from an integration that is installed on the same bot', () => {
    die(3, [{ ...killer, installationId: 'installation' }])
    expect(placementOf({ ...killer, installationId: 'installation' })).toBe('quarantine')
    expect(placementOf({ ...killer, installationId: 'another' })).toBe('slot')
    expect(placementOf(killer)).toBe('slot')
  })

  test('of several suspects bears a part of each kill, so that the one who was always there is found', () => {
    for (let kill = 0; kill < 6; kill += 1) {
      expect(placementOf(killer)).toBe('slot')
      die(1, [killer, { botId: `passer-by ${kill}`, codeId: 'version 1' }])
    }
    expect(placementOf(killer)).toBe('quarantine')
    expect(suspensions).toHaveLength(1)
  })

  test('is found after twelve kills in however large a crowd', () => {
    const crowd = Array.from({ length: 100 }, (_, index) => ({ botId: `bot ${index}`, codeId: 'version 1' }))
    die(11, [killer, ...crowd])
    expect(placementOf(killer)).toBe('slot')
    die(1, [killer])
    expect(placementOf(killer)).toBe('quarantine')
    expect(placementOf(crowd[0]!)).toBe('slot')
  })

  test('is hardly suspected when something outside killed the process', () => {
    die(11, [killer], true)
    expect(placementOf(killer)).toBe('slot')
    die(1, [killer], true)
    expect(placementOf(killer)).toBe('quarantine')
  })

  test('is sent to quarantine once, when runs of it die in two processes', () => {
    die(4)
    expect(suspensions).toHaveLength(1)
  })
})

describe('code in quarantine', () => {
  beforeEach(() => {
    die(3, [killer])
    suspensions = []
  })

  test('is disabled when it kills three more times, for a reason that says what to do', () => {
    dieInQuarantine(2)
    expect(placementOf(killer)).toBe('quarantine')
    dieInQuarantine(1)
    expect(history.placementOf(killer)).toEqual({
      placement: 'disabled',
      reason: expect.stringContaining('Upload a new version'),
    })
    expect(suspensions).toMatchObject([{ ...killer, placement: 'disabled' }])
  })

  test('is home again after an hour without a kill', () => {
    now += 50 * minute
    dieInQuarantine(2)
    now += 50 * minute
    expect(placementOf(killer)).toBe('quarantine')
    now += 11 * minute
    expect(placementOf(killer)).toBe('slot')
  })

  test('that is disabled runs again as another upload, in quarantine at first', () => {
    dieInQuarantine(3)
    const next = { ...killer, codeId: 'version 2' }
    expect(placementOf(next)).toBe('quarantine')
    dieInQuarantine(3, next)
    expect(placementOf(next)).toBe('disabled')
    now += 61 * minute
    expect(placementOf({ ...killer, codeId: 'version 3' })).toBe('slot')
  })

  test('is never disabled for what happens elsewhere', () => {
    die(100, [killer, neighbour])
    expect(placementOf(killer)).toBe('quarantine')
    expect(suspensions.filter(({ placement }) => placement === 'disabled')).toEqual([])
  })

  test('that is found guilty clears those who were suspected with it', () => {
    die(5, [neighbour, { botId: 'another', codeId: 'version 1' }])
    dieInQuarantine(3)
    die(1, [neighbour, { botId: 'another', codeId: 'version 1' }])
    expect(placementOf(neighbour)).toBe('slot')
  })
})
