import { spawnSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pretendOldNode } from './cli/command-line.ts'

const root = join(import.meta.dirname, '..')

test.each(['api/main.ts', 'worker/main.ts'])('node %s says on an old Node which one it needs', (script) => {
  // What an old Node reads has to be JavaScript: it refuses to read anything else.
  expect(realpathSync(join(root, script))).toMatch(/\.js$/)
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', pretendOldNode, script], {
    cwd: root,
    encoding: 'utf8',
  })
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toBe(
    `This is Node 18.0.0, and Isobot needs Node 24. \`npm ci\` has brought one: node_modules/.bin/node ${script}\n`,
  )
})
