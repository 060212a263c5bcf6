import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { addressesThatAreNotPublic } from './vectors.ts'
import type { Report } from './own-network.ts'

const ownNetwork = ['--map-root-user', '--net']

/** Linux, the tools, and a kernel that gives network namespaces to whoever asks. */
function canHaveOwnNetwork(): boolean {
  try {
    execFileSync('unshare', [...ownNetwork, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe.skipIf(!canHaveOwnNetwork())('in a network where somebody listens at every address of the world', () => {
  let report: Report
  beforeAll(async () => {
    const program = new URL('./own-network.ts', import.meta.url).pathname
    const { stdout } = await promisify(execFile)('unshare', [...ownNetwork, process.execPath, program])
    report = JSON.parse(stdout) as Report
  })

  test.each([
    'an address',
    'an address in IPv6',
    'a name',
    'a name in IPv6',
    'a redirect',
    'a port that is named',
    'a name at first',
    'a name in IPv6 at first',
  ])('%s that is public is reached', (what) => {
    expect(report.outcomes[what]).toBe('reached')
  })

  test.each([
    'a port that is not named',
    'a port of mail',
    'a redirect to a private address',
    'a name that moved',
    'a name in IPv6 that moved',
  ])('%s is refused', (what) => {
    expect(report.outcomes[what]).toBe('forbidden')
  })

  test.each(addressesThatAreNotPublic)('an address that is not public is refused (%s): %s', (_what, address) => {
    expect(report.outcomes[address]).toBe('forbidden')
    expect(report.outcomes[`${address} at another port`]).toBe('forbidden')
  })

  test('connections arrive at public addresses and at no others', () => {
    expect(new Set(report.arrived)).toEqual(
      new Set([
        '1.1.1.1:80',
        '2606:4700::1111:80',
        '93.184.215.14:80',
        '2606:2800:21f::1:80',
        '1.1.1.2:80',
        '8.8.8.8:80',
        '1.1.1.3:8443',
        '1.1.1.6:80',
        '93.184.215.15:80',
        '2606:2800:21f::2:80',
      ]),
    )
  })
})
