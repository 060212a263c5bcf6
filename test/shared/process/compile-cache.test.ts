import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..', '..')

test.each(['api/main', 'worker/main', 'migrations/migrate'])(
  'node %s keeps compiled modules beside the code',
  (program) => {
    const { PATH } = process.env
    const { status, stderr } = spawnSync(process.execPath, [`${program}.js`], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      env: { PATH, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    })
    expect(stderr).toContain('DATABASE_URL is not set')
    expect(status).toBe(1)
    const kept = new RegExp(
      `reading cache from ${join(root, 'node_modules', '.cache', 'node-compile')}/\\S+ for \\w+ file://${root}/`,
    )
    expect(kept.test(stderr)).toBe(true)
  },
)
