import { spawnSync } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pretendNode, pretendOldNode } from '../../cli/command-line.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/** Runs Node with an environment that names no setting of the platform. */
function node(...parameters: string[]): { status: number | null; output: string } {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, parameters, {
    cwd: root,
    encoding: 'utf8',
    env: { PATH, NODE_COMPILE_CACHE },
  })
  return { status, output: stdout + stderr }
}

describe.each(['api/main', 'worker/main', 'migrations/migrate'])('node %s', (program) => {
  // Procfiles from before name the `.ts`.
  test.each(['js', 'ts'])('.%s says on an old Node which one it needs', (extension) => {
    // It refuses to load TypeScript, as an old one does: all that it reads has to be JavaScript.
    const old = ['--no-experimental-strip-types', '--import', pretendOldNode]
    expect(node(...old, `${program}.${extension}`)).toEqual({
      status: 1,
      output: `This is Node 18.0.0, and Isobot needs Node 24. npm has installed it: node_modules/.bin/node ${program}.js\n`,
    })
  })

  test('.js refuses a newer Node, on which the limits of code are not tested', () => {
    expect(node('--import', pretendNode('26.10.0'), `${program}.js`)).toEqual({
      status: 1,
      output: `This is Node 26.10.0, and Isobot needs Node 24. npm has installed it: node_modules/.bin/node ${program}.js\n`,
    })
  })

  test('.ts still runs the program, without a symbolic link, which packages and some file systems lack', () => {
    expect(lstatSync(join(root, `${program}.ts`)).isSymbolicLink()).toBe(false)
    const { status, output } = node(`${program}.ts`)
    expect(status).toBe(1)
    expect(output).toContain('DATABASE_URL is not set')
  })
})
