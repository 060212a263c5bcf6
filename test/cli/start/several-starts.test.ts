import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { findProcess } from '#shared/process/find-process.ts'
import { announceStart, dataDirectory, localDataDirectory } from '../../../cli/profiles.ts'

let home: string
const children = new Set<ChildProcess>()
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'starts-'))
  vi.stubEnv('ISOBOT_CONFIG_DIR', join(home, 'config'))
  vi.stubEnv('ISOBOT_DATA_DIR', '')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const child of children) child.kill()
  children.clear()
  await rm(home, { recursive: true })
})

/** A process in place of a start on a data folder of this name, recorded and announced as one. */
async function start(name: string) {
  const directory = join(home, name)
  await mkdir(directory, { recursive: true })
  const child = spawn('sleep', ['60'])
  children.add(child)
  const { commandLine } = (await findProcess(child.pid!))!
  const record = { processes: [{ pid: child.pid, commandLine }], launchers: [], isStopping: false }
  await writeFile(join(directory, 'start.json'), JSON.stringify(record))
  await announceStart(directory)
  const end = async () => {
    child.kill()
    await once(child, 'exit')
    children.delete(child)
  }
  return { directory, end }
}

test('after the last of several starts has ended, the command line finds the one before it, and none after all', async () => {
  const [first, second] = [await start('first'), await start('second')]
  expect(await localDataDirectory()).toBe(second.directory)
  await second.end()
  expect(await localDataDirectory()).toBe(first.directory)
  const third = await start('third')
  await first.end()
  expect(await localDataDirectory()).toBe(third.directory)
  await third.end()
  expect(await localDataDirectory()).toBe(dataDirectory())
})

test('a folder that has started often is found beside many others', async () => {
  const first = await start('first')
  for (let index = 0; index < 30; index++) await (await start('again')).end()
  expect(await localDataDirectory()).toBe(first.directory)
})
