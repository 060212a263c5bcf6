import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

test('tests that were retried are named at the end of a run, with how they ended and the errors of each attempt', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'isobot-retried-'))
  try {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await writeFile(
      join(folder, 'some.test.js'),
      `import { describe, expect, test } from 'vitest'
      let attempts = 0
      test('steady', () => {})
      describe('on a slow machine', () => {
        test('unsteady', () => expect((attempts += 1)).toBe(2))
        test('broken', () => expect(1).toBe(2))
      })`,
    )
    const reporter = join(import.meta.dirname, 'retried-tests.ts')
    const run = promisify(execFile)(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', '--retry=1', '--reporter=default', `--reporter=${reporter}`],
      { cwd: folder, env: { PATH: process.env.PATH } },
    )
    const { stdout } = (await run.catch((error: unknown) => error)) as { stdout: string }
    expect(stdout.slice(stdout.indexOf('Retried')).trim().split('\n')).toEqual([
      'Retried tests: 2',
      '  some.test.js > on a slow machine > unsteady: passed at attempt 2',
      '    line 5: expected 1 to be 2 // Object.is equality',
      '  some.test.js > on a slow machine > broken: failed at attempt 2',
      '    line 6: expected 1 to be 2 // Object.is equality',
      '    line 6: expected 1 to be 2 // Object.is equality',
    ])
  } finally {
    await rm(folder, { recursive: true })
  }
})
