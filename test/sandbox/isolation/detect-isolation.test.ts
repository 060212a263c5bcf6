import { spawnSync } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { IsolationLayer } from '#sandbox/isolation/names.ts'
import { MissingIsolationError, detectIsolation } from '#sandbox/isolation/detect-isolation.ts'
import { IsolatedProcess } from '#sandbox/isolation/isolated-process.ts'
import { asOrdinaryUser, canMake, withoutNamespaces, type RestrictedEnvironment } from './restricted-env.ts'
import { explore, isolationHere } from '../isolate/explorer.ts'
import { openTestSandbox, botThat, messageRun } from '../fixture.ts'

const namespaces = ['unshare', '--user', '--map-root-user', '--net', '--pid', '--fork', '--mount', 'true']

describe.runIf(canMake(withoutNamespaces))('where no namespaces are to be had', () => {
  test('those layers hold that need none, and the report says what is missing, why, and what to do', () => {
    const { level, message, holds, missing } = report(withoutNamespaces)
    expect(level).toBe('warn')
    expect(holds).toEqual(['permissions', 'memory', 'privileges'])
    expect(message).toBe(
      'Isolation layers of sandbox processes: permissions, memory, privileges; missing: network, files, processes, user',
    )
    expect(Object.keys(missing)).toEqual(['network', 'files', 'processes', 'user'])
    expect(missing['network']).toMatch(
      /^no connection.*unavailable \(.*unshare.*No space left.*\); run the worker on Linux/,
    )
    expect(missing['user']).toMatch(/setpriv.*; run the worker as root/)
  })

  test('nothing starts that is required to have them', () => {
    const { status, stderr } = runReport(withoutNamespaces, ['memory', 'network', 'user'])
    expect(status).toBe(1)
    expect(stderr).toMatch(
      /^MissingIsolationError: SANDBOX_REQUIRE lists isolation layers that are missing here:\n {2}network: /,
    )
    expect(stderr).toMatch(/\n {2}user: .*run the worker as root/)
    expect(stderr).not.toContain('  memory: ')
  })
})

test.runIf(canMake(asOrdinaryUser, namespaces))('an ordinary user has all layers but a user of its own', () => {
  const { holds, missing } = report(asOrdinaryUser)
  expect(holds).toEqual(['permissions', 'memory', 'network', 'files', 'processes', 'privileges'])
  expect(Object.keys(missing)).toEqual(['user'])
})

describe('where the tools are not installed', () => {
  test('nothing but what Node and the shell give is around a process, which is said, and it works', async () => {
    const lines: { level: string; details: { holds: string[]; missing: Record<string, string> } }[] = []
    const isolation = await detectIsolation({
      profile: 'hardened',
      require: ['permissions'],
      tools: {},
      log: (level, _message, details) => lines.push({ level, details: details as never }),
    })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ level: 'warn', details: { holds: [...isolation.holds] } })
    expect([...isolation.holds]).toEqual(
      expect.not.arrayContaining(['network', 'files', 'processes', 'privileges', 'user']),
    )
    expect(isolation.holds.has('permissions')).toBe(true)
    expect(lines[0]!.details.missing['network']).toMatch(
      /\((not installed: unshare, setpriv, mount, chroot, mkdir, nice|the operating system is \w+)\)/,
    )
    const { found } = await explore(
      `attempt('read', () => require('node:fs').readFileSync('/etc/passwd'))
       attempt('environment', () => Object.keys(process.env).filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)))`,
      isolation.command(480_000),
    )
    expect(found).toEqual({ read: 'ERR_ACCESS_DENIED', environment: [] })
  })

  test.each<IsolationLayer>(['network', 'files', 'processes', 'privileges', 'user'])(
    'nothing starts that is required to have the layer "%s"',
    async (name) => {
      const raised = detectIsolation({ profile: 'hardened', require: [name], tools: {}, log: () => {} })
      await expect(raised).rejects.toThrow(MissingIsolationError)
      await expect(raised).rejects.toThrow(new RegExp(`:\\n {2}${name}: .*unavailable \\(.*\\); run the worker`))
    },
  )
})

describe.runIf(process.platform === 'linux')('with the profile jit', () => {
  test('a process has a JIT, and the same layers', async () => {
    const [hardened, jit] = await Promise.all([isolationHere('hardened'), isolationHere('jit')])
    expect([...jit.holds].toSorted()).toEqual([...hardened.holds].toSorted())
    const { found } = await explore(`attempt('webAssembly', () => typeof WebAssembly)`, jit.command(480_000))
    expect(found).toEqual({ webAssembly: 'object' })
  })

  test('a process that takes more memory than its cap is noticed at once, wherever it took it', async () => {
    const process = new IsolatedProcess(await isolationHere('jit'), 150_000)
    onTestFinished(() => process.end())
    process.child.stdin!.end(`
      const channel = new (require('node:net').Socket)({ fd: 3 })
      const kept = []
      channel.on('data', () => setInterval(() => kept.push(Buffer.alloc(2e6, 1)), 5))
      channel.write('ready')`)
    const channel = process.child.stdio[3] as Duplex
    await new Promise((resolve) => channel.once('data', resolve))
    const outgrown = new Promise<number>((resolve) => process.started(resolve))
    channel.write('go')
    const kilobytes = await outgrown
    expect(kilobytes).toBeGreaterThan(150_000)
    expect(kilobytes).toBeLessThan(300_000)
  })

  test('code that takes memory which its heap does not count costs its process, and the next run works', async () => {
    const reasons: unknown[] = []
    const sandbox = await openTestSandbox({
      profile: 'jit',
      memoryMegabytes: 128,
      log: (_level, _message, details) => reasons.push(details && 'reason' in details && details.reason),
    })
    onTestFinished(() => sandbox.close())
    const greedy = botThat(`JSON.parse('['.repeat(3e7) + ']'.repeat(3e7))`)
    const patient = { cpuMilliseconds: 15_000, memoryMegabytes: 128 }
    const outcome = await sandbox.run(messageRun(greedy, { limits: patient }))
    expect(outcome).toMatchObject({ status: 'failed', reason: 'crashed' })
    expect(reasons).toContain('it exceeded its memory limit')
    expect((await sandbox.run(messageRun(botThat(`logger.info('here')`)))).status).toBe('done')
  })
})

interface Report {
  level: string
  message: string
  holds: IsolationLayer[]
  missing: Record<string, string>
}

function report(environment: RestrictedEnvironment): Report {
  const { status, stdout, stderr } = runReport(environment, [])
  expect(stderr).toBe('')
  expect(status).toBe(0)
  // One line, however much there is to say.
  return JSON.parse(stdout) as Report
}

function runReport([file, ...args]: RestrictedEnvironment, require: IsolationLayer[]) {
  const program = fileURLToPath(new URL('./report-isolation.ts', import.meta.url))
  return spawnSync(file, [...args, process.execPath, program, ...require], { encoding: 'utf8' })
}
