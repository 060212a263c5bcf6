import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { builtOnce } from '#sandbox/host/build-cache.ts'
import { bundlePrograms } from '#sandbox/host/programs.ts'

let directory: string
let folder: string
let input: string
let builds: number
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'isobot-build-cache-'))
  folder = join(directory, 'kept')
  input = join(directory, 'source.ts')
  builds = 0
  await write('first')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** Writes the source, at a time before any build. */
async function write(text: string): Promise<void> {
  await writeFile(input, text)
  await utimes(input, new Date(2026, 0, 1), new Date(2026, 0, 1))
}

const get = () => builtOnce('program', async () => ({ value: `build ${++builds}`, inputs: [input] }), folder)

test('unchanged files are built once', async () => {
  expect([await get(), await get()]).toEqual(['build 1', 'build 1'])
})

test('a file of other contents is built again, even with the same size and time', async () => {
  await get()
  await write('other')
  expect([await get(), await get()]).toEqual(['build 2', 'build 2'])
})

test('a file that is gone is built again', async () => {
  await get()
  await rm(input)
  expect(await get()).toBe('build 2')
})

test('a file that changes while it is built is built again', async () => {
  const built = await builtOnce(
    'program',
    async () => {
      await writeFile(input, 'newer')
      return { value: 'of the older', inputs: [input] }
    },
    folder,
  )
  expect([built, await get()]).toEqual(['of the older', 'build 1'])
})

test('half a file, and a folder that cannot be made, are no failures', async () => {
  await get()
  expect(await readdir(folder)).toEqual(['program.json'])
  await writeFile(join(folder, 'program.json'), '{"value":"half')
  expect(await get()).toBe('build 2')
  await rm(folder, { recursive: true })
  await writeFile(folder, '')
  expect([await get(), await get()]).toEqual(['build 3', 'build 4'])
})

test('the programs of sandbox processes are there for the next worker', async () => {
  const programs = await bundlePrograms()
  const root = join(import.meta.dirname, '..', '..', '..')
  const kept = await readFile(join(root, 'node_modules', '.cache', 'sandbox-programs', 'programs.json'), 'utf8')
  expect(JSON.parse(kept)).toMatchObject({ value: programs })
  // In a copy of the code, absolute paths would be those of the original.
  expect(kept).not.toContain(root)
})
