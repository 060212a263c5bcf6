import { beforeEach, describe, expect, test } from 'vitest'
import { CrashHistory, type Owner } from '#sandbox/host/crash-history.ts'
import type { CodeSuspension } from '#sandbox/protocol/contract.ts'

const minute = 60_000
const killer: Owner = { botId: 'killer', codeId: 'version 1' }
const neighbour: Owner = { botId: 'neighbour', codeId: 'version 1' }

let now: number
let verdicts: CodeSuspension[]
let conduct: CrashHistory
beforeEach(() => {
  now = 1_000_000
  verdicts = []
  conduct = new CrashHistory(
    (verdict) => verdicts.push(verdict),
    () => now,
  )
})

function die(times: number, suspects: Owner[] = [killer], fromOutside = false): void {
  for (let time = 0; time < times; time += 1) conduct.exitedInSlot({ suspects, fromOutside })
}

function dieInQuarantine(times: number, owner = killer): void {
  for (let time = 0; time < times; time += 1) {
    conduct.exitedInQuarantine(owner, { suspects: [owner], fromOutside: false })
  }
}

const placeOf = (owner: Owner) => conduct.placeOf(owner).place

describe('code at home', () => {
  test('is in quarantine after three kills in ten minutes, whatever version of it runs', () => {
    die(2)
    expect(placeOf(killer)).toBe('home')
    now += 9 * minute
    die(1)
    expect(placeOf(killer)).toBe('quarantine')
    expect(placeOf({ ...killer, codeId: 'version 2' })).toBe('quarantine')
    expect(verdicts).toEqual([{ ...killer, place: 'quarantine', reason: expect.stringContaining('10 minutes') }])
  })

  test('stays there when its kills are further apart', () => {
    for (let kill = 0; kill < 20; kill += 1) {
      die(1)
      now += 5 * minute + 1
    }
    expect(placeOf(killer)).toBe('home')
  })

  test('is told apart from an integration that is installed on the same bot', () => {
    die(3, [{ ...killer, installationId: 'installation' }])
    expect(placeOf({ ...killer, installationId: 'installation' })).toBe('quarantine')
    expect(placeOf({ ...killer, installationId: 'another' })).toBe('home')
    expect(placeOf(killer)).toBe('home')
  })

  test('of several suspects bears a part of each kill, so that the one who was always there is found', () => {
    for (let kill = 0; kill < 6; kill += 1) {
      expect(placeOf(killer)).toBe('home')
      die(1, [killer, { botId: `passer-by ${kill}`, codeId: 'version 1' }])
    }
    expect(placeOf(killer)).toBe('quarantine')
    expect(verdicts).toHaveLength(1)
  })

  test('is found after twelve kills in however large a crowd', () => {
    const crowd = Array.from({ length: 100 }, (_, index) => ({ botId: `bot ${index}`, codeId: 'version 1' }))
    die(11, [killer, ...crowd])
    expect(placeOf(killer)).toBe('home')
    die(1, [killer])
    expect(placeOf(killer)).toBe('quarantine')
    expect(placeOf(crowd[0]!)).toBe('home')
  })

  test('is hardly suspected when something outside killed the process', () => {
    die(11, [killer], true)
    expect(placeOf(killer)).toBe('home')
    die(1, [killer], true)
    expect(placeOf(killer)).toBe('quarantine')
  })

  test('is sent to quarantine once, when runs of it die in two processes', () => {
    die(4)
    expect(verdicts).toHaveLength(1)
  })
})

describe('code in quarantine', () => {
  beforeEach(() => {
    die(3, [killer])
    verdicts = []
  })

  test('is disabled when it kills three more times, for a reason that says what to do', () => {
    dieInQuarantine(2)
    expect(placeOf(killer)).toBe('quarantine')
    dieInQuarantine(1)
    expect(conduct.placeOf(killer)).toEqual({
      place: 'disabled',
      reason: expect.stringContaining('Upload a new version'),
    })
    expect(verdicts).toMatchObject([{ ...killer, place: 'disabled' }])
  })

  test('is home again after an hour without a kill', () => {
    now += 50 * minute
    dieInQuarantine(2)
    now += 50 * minute
    expect(placeOf(killer)).toBe('quarantine')
    now += 11 * minute
    expect(placeOf(killer)).toBe('home')
  })

  test('that is disabled runs again as another upload, in quarantine at first', () => {
    dieInQuarantine(3)
    const next = { ...killer, codeId: 'version 2' }
    expect(placeOf(next)).toBe('quarantine')
    dieInQuarantine(3, next)
    expect(placeOf(next)).toBe('disabled')
    now += 61 * minute
    expect(placeOf({ ...killer, codeId: 'version 3' })).toBe('home')
  })

  test('is never disabled for what happens elsewhere', () => {
    die(100, [killer, neighbour])
    expect(placeOf(killer)).toBe('quarantine')
    expect(verdicts.filter(({ place }) => place === 'disabled')).toEqual([])
  })

  test('that is found guilty clears those who were suspected with it', () => {
    die(5, [neighbour, { botId: 'another', codeId: 'version 1' }])
    dieInQuarantine(3)
    die(1, [neighbour, { botId: 'another', codeId: 'version 1' }])
    expect(placeOf(neighbour)).toBe('home')
  })
})
