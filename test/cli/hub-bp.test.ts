import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openBp } from '../../cli/hub/bp.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isobot-bp-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A program that prints how it was started. */
const program = `
  const { readFileSync } = require('node:fs')
  const listed = process.platform === 'linux' ? readFileSync('/proc/self/cmdline', 'utf8') : ''
  const options = Object.entries(process.env).filter(([name]) => /^(BP|ISOBOT_BP)_/.test(name))
  console.log(JSON.stringify({ args: process.argv.slice(2), listed, options: Object.fromEntries(options) }))`

test('bp gets the account and secrets, which are in no list of processes, and no options of the environment', async () => {
  const script = join(folder, 'bp.js')
  await writeFile(script, program)
  vi.stubEnv('BP_API_URL', 'https://another.example')
  vi.stubEnv('BP_PROFILE', 'another')
  const account = { url: 'http://platform.example', token: 'the-token', workspaceId: 'wkspace-1' }
  const bp = await openBp(script, account, folder)
  vi.unstubAllEnvs()
  const { output } = await bp.run(folder, 'deploy', '--secrets', 'KEY=a secret "value"')
  const { args, listed, options } = JSON.parse(output)
  expect(args).toEqual(['deploy', '--secrets', 'KEY=a secret "value"', '--confirm', '--verbose'])
  expect(listed).not.toMatch(/secret|the-token/)
  expect(options).toEqual({
    BP_API_URL: 'http://platform.example',
    BP_TOKEN: 'the-token',
    BP_WORKSPACE_ID: 'wkspace-1',
    BP_BOTPRESS_HOME: folder,
    BP_IS_BOTPRESS_WORKSPACE: 'true',
  })
})
