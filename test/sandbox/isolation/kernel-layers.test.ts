import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bareLayers, type Layers } from '#sandbox/isolation/layers.ts'
import { isolationLayers } from '#sandbox/isolation/names.ts'
import { attackersProgram, openAttackTargets, type AttackTargets } from './attack-targets.ts'
import { commandWith, dataKilobytes, explore, isolationHere, withoutPermissions } from '../isolate/explorer.ts'

// All processes below run without Node's permission model, as for code that has bypassed it: only the kernel's layers remain.

const isRoot = process.getuid?.() === 0
const hasNamespaces = spawnSync('unshare', ['--net', '--ipc', '--pid', '--fork', '--mount', 'true']).status === 0
const allowsAll = process.platform === 'linux' && isRoot && hasNamespaces

let targets: AttackTargets
beforeAll(async () => {
  targets = await openAttackTargets()
})
afterAll(() => targets[Symbol.asyncDispose]())

const network = [
  'connects over TCP',
  'connects to PostgreSQL',
  'connects to Redis',
  'connects to an abstract socket',
  'sends a datagram',
  'asks a name server',
]
const processes = ['signals the worker', 'slows the worker down']
const gains = ['becomes root', 'joins another group']
const workerAccess = ['sees the environment of the worker', 'opens the memory of the worker']
const foreign = ['reads a file of the worker', 'sees the environment of the first process']
const files = [
  ...foreign,
  'reads a file that everybody may read',
  'climbs to a file',
  'reads its own package',
  'loads a module',
  'loads an addon',
  'makes a file',
  'starts a program',
  'connects to a socket by its path',
]

describe.runIf(allowsAll)('of the attacks on a machine fail', () => {
  const strong = { ownAccount: true, noPrivileges: true, chroot: true }

  test.each<[string, Layers, (all: string[]) => string[]]>([
    ['none without a layer', bareLayers, () => []],
    [
      'those on the network and on processes by namespaces',
      { ...bareLayers, namespaces: 'direct' },
      () => [...network, ...processes],
    ],
    [
      'those that take privileges when there are none',
      { ...bareLayers, noPrivileges: true },
      () => ['joins another group', 'slows the worker down', ...workerAccess],
    ],
    [
      'those on what others own by an account of its own',
      { ...strong, chroot: false },
      () => [...gains, ...workerAccess, ...foreign, ...processes],
    ],
    [
      'those on files by a root folder of its own',
      { ...strong, namespaces: 'direct', ownAccount: false },
      everythingBut('becomes root'),
    ],
    ['all by all that root can build', { ...strong, namespaces: 'direct' }, (all) => all],
    // Root in a namespace of its own has no rights outside.
    [
      'all that matter by all that any user can build',
      { ...strong, namespaces: 'user' },
      everythingBut('becomes root'),
    ],
  ])('%s', async (_what, layers, expected) => {
    const command = withoutPermissions(commandWith(layers))
    const { found } = await explore(attackersProgram(targets.attacks), command)
    const all = Object.keys(targets.attacks)
    expect(Object.keys(found).toSorted()).toEqual(all.toSorted())
    const failed = all.filter((name) => found[name] !== true)
    expect(comparable(failed)).toEqual(comparable(expected(all)))
  })
})

describe.runIf(allowsAll)('the isolation layers of a machine that allows everything', () => {
  test('are all there', async () => {
    expect([...(await isolationHere()).holds].toSorted()).toEqual(isolationLayers.toSorted())
  })
})

describe.runIf(allowsAll)('in a root folder of its own', () => {
  const isolated: Layers = { namespaces: 'direct', chroot: true, ownAccount: true, noPrivileges: true }

  test.each<[string, Layers]>([
    ['another account', isolated],
    // Here it owns all files, as the sandbox process of an ordinary user does.
    ['the same account', { ...isolated, namespaces: 'user', ownAccount: false }],
  ])('%s finds nothing but its own program and libraries, and can change none of it', async (_whose, layers) => {
    const { found } = await explore(
      `
      const fs = require('node:fs')
      const { dirname, join } = require('node:path')
      const all = (folder) => fs.readdirSync(folder, { withFileTypes: true })
        .filter(({ name }) => folder !== '/' || name !== 'proc')
        .flatMap((entry) => entry.isDirectory() ? all(join(folder, entry.name)) : [join(folder, entry.name)])
      const works = (action) => { try { action(); return true } catch { return false } }
      const folders = ['/', '/proc', ...new Set(all('/').map(dirname))]
      attempt('files', () => all('/'))
      attempt('made', () => folders.filter((folder) => works(() => fs.openSync(join(folder, 'x'), 'w'))))
      attempt('written', () => all('/').filter((file) => works(() => fs.openSync(file, 'r+'))))
      attempt('removed', () => all('/').filter((file) => works(() => fs.unlinkSync(file))))
      attempt('processes', () => fs.readdirSync('/proc').filter(Number))`,
      withoutPermissions(commandWith(layers)),
    )
    expect(found).toMatchObject({ made: [], written: [], removed: [], processes: ['1'] })
    const needed =
      /\/(node|setpriv|[^/]+\.node|lib[^/]+\.so[.\d]*|ld-[^/]+\.so\.\d|ld\.so\.cache)$|^\/(mounts|dev\/null)$/
    expect((found['files'] as string[]).filter((file) => !needed.test(file))).toEqual([])
    expect((found['files'] as string[]).length).toBeGreaterThan(4)
  })
})

describe.runIf(process.platform === 'linux')('the isolation layers of this machine', () => {
  test('keep from all attacks that they are there for', async () => {
    const isolation = await isolationHere()
    const { found } = await explore(
      attackersProgram(targets.attacks),
      withoutPermissions(isolation.command(dataKilobytes)),
    )
    const against = {
      network,
      files,
      processes: [...processes, ...(isolation.holds.has('files') ? workerAccess : [])],
      privileges: ['joins another group'],
      user: [...gains, ...workerAccess, ...foreign, ...processes],
    }
    for (const [name, attacks] of Object.entries(against)) {
      if (!isolation.holds.has(name as keyof typeof against)) continue
      for (const attack of attacks) expect(found[attack], `${attack} in spite of ${name}`).not.toBe(true)
    }
  })
})

function everythingBut(success: string): (all: string[]) => string[] {
  return (all) => all.filter((name) => name !== success)
}

/** In order, and without the attack that fails on some machines even for root. */
function comparable(attacks: string[]): string[] {
  return attacks.filter((name) => name !== 'sees the environment of the first process').toSorted()
}
