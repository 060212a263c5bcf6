import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Connection } from '../../cli/connection.ts'
import { openPlatform } from '../support/platform.ts'
import { libraryCases } from './cases.ts'
import { openServer } from './server.ts'
import { tryLibrary } from './try-library.ts'

const root = join(import.meta.dirname, '..', '..')
const parts = new AsyncDisposableStack()
let connection: Connection
let folder: string
let url: string
beforeAll(async () => {
  const cache = join(root, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  // Within the folder of what is installed, so that imports are found there.
  folder = parts.adopt(await mkdtemp(join(cache, 'libraries-')), (path) => rm(path, { recursive: true }))
  const platform = parts.use(await openPlatform({ environment: { OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' } }))
  connection = await connect({ name: 'tests', url: platform.url, token: platform.token })
  url = parts.use(await openServer()).url
})
afterAll(() => parts.disposeAsync())

/** Of the list, those that are installed with the platform anyway. */
const installed = ['ajv', 'jose', '@noble/hashes']

test.for(installed)('a bot calls %s', async (name) => {
  const one = libraryCases.find(({ packages }) => Object.keys(packages)[0] === name)!
  expect(await tryLibrary(connection, folder, one, { url })).toMatchObject({ kind: 'works' })
})

test('a bot asks a server by fetch, as the clients in the list do', async () => {
  const source = 'export const answer = async (url: string) => (await (await fetch(`${url}/json`)).json()).text'
  expect(await tryLibrary(connection, folder, { source, expects: 'from the server' }, { url })).toMatchObject({
    kind: 'works',
  })
})

test('a library whose call comes to something else is not one that works', async () => {
  const source = `export const answer = () => 'another thing'`
  expect(await tryLibrary(connection, folder, { source, expects: 'one thing' }, { url })).toMatchObject({
    kind: 'fails',
  })
})

test('the page has every library of the list, in the version that was tried, with its note or what to use instead', async () => {
  const rows = (await readFile(join(root, 'docs', 'libraries.md'), 'utf8')).split('\n')
  const missing = libraryCases.filter(({ packages, note, instead }) => {
    const [[name, version]] = Object.entries(packages) as [[string, string]]
    const row = rows.find((line) => line.startsWith('|') && line.includes(`\`${name}\``) && line.includes(version))
    return row === undefined || !row.includes(note ?? instead ?? '')
  })
  expect(missing).toEqual([])
})
