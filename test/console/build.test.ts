import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from '../../api/console/output.ts'

/** A checkout with a console and a widget of one line. */
let checkout: string
beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'isobot-build-'))
  await cp(join(root, 'api', 'console'), join(checkout, 'api', 'console'), { recursive: true })
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'))
  await mkdir(join(checkout, 'console', 'source'), { recursive: true })
  await mkdir(join(checkout, 'console', 'widget'))
  for (const name of ['inject.ts', 'frame.tsx']) await writeFile(join(checkout, 'console', 'widget', name), 'alert()')
  await writeFile(join(checkout, 'package.json'), '{ "type": "module" }')
  await writeFile(join(checkout, 'console', 'index.html'), '<script type="module" src="/source/main.tsx"></script>')
  await show('first')
})
afterEach(() => rm(checkout, { recursive: true, force: true }))

const show = (word: string) =>
  writeFile(join(checkout, 'console', 'source', 'main.tsx'), `document.title = '${word} ${'.'.repeat(2000)}'`)

const build = () => promisify(execFile)(process.execPath, [join(checkout, 'api', 'console', 'build.ts')])

async function builtScript(): Promise<string> {
  const assets = join(checkout, 'console', 'dist', 'assets')
  const [script] = (await readdir(assets)).filter((name) => name.endsWith('.js'))
  return readFile(join(assets, script!), 'utf8')
}

test('a build replaces output that is older than its sources, leaves current output alone, and can be read by others', async () => {
  await build()
  const output = join(checkout, 'console', 'dist')
  const { ino, mode } = await stat(output)
  expect(mode & 0o005).toBe(0o005 & ~process.umask())
  expect(await builtScript()).toContain('first')
  expect(await build()).toEqual({ stdout: '', stderr: '' })
  expect((await stat(output)).ino).toBe(ino)

  await show('second')
  expect((await build()).stdout).toContain('The console is built: console/dist')
  expect(await builtScript()).toContain('second')
  expect(await readdir(join(output, 'assets'))).toHaveLength(2)
})

test('two builds at once both succeed, and leave nothing but the output', async () => {
  await Promise.all([build(), build()])
  expect(await builtScript()).toContain('first')
  expect((await readdir(join(checkout, 'console'))).toSorted()).toEqual(['dist', 'index.html', 'source', 'widget'])
})
