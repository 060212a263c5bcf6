import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleScripts } from '#sandbox/host/programs.ts'
import { detectIsolation } from '#sandbox/isolation/detect-isolation.ts'
import { ScriptsError, type Scripts } from '#sandbox/scripts/contract.ts'
import { openScripts } from '#sandbox/scripts/open-scripts.ts'

let scripts: Scripts

async function openHere(program = bundleScripts, idleMilliseconds?: number): Promise<Scripts> {
  const isolation = await detectIsolation({ profile: 'hardened', require: [], log() {} })
  return openScripts({ isolation, program, idleMilliseconds, log() {} })
}

beforeAll(async () => {
  scripts = await openHere()
})

afterAll(() => scripts.close())

const run = (script: string, input: object = {}) => scripts.run('test', script, input)
const compile = (script: string) => scripts.compile('test', script)
const failure = (reason: RegExp) => ({ status: 'failed', reason: expect.stringMatching(reason) as string })

test('a script reads its input', async () => {
  const script = 'team = parse_json!(.body).team_id\nto_string!(team)'
  expect(await run(script, { body: '{"team_id":"T1"}' })).toEqual({ status: 'completed', result: 'T1' })
})

test('a script that does not compile fails, and so does one that fails an assertion', async () => {
  expect(await run('this is no script(')).toMatchObject({ status: 'failed', reason: expect.stringContaining('syntax') })
  expect(await run('assert!(false, message: "the token is wrong")')).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining('the token is wrong'),
  })
})

test('a script sees no environment variable and nothing of the scripts before it', async () => {
  expect(await run('get_env_var("PATH") ?? "none"')).toEqual({ status: 'completed', result: 'none' })
  await run('.left = "here"; .left')
  expect(await run('.left')).toEqual({ status: 'completed', result: null })
})

test('a script whose result is too large fails, and the next one runs', async () => {
  const doubled = Array.from({ length: 24 }, () => 'text = text + text').join('\n')
  expect(await run(`text = "x"\n${doubled}\ntext`)).toMatchObject({ status: 'failed' })
  expect(await run('1 + 1')).toEqual({ status: 'completed', result: 2 })
})

test('a pattern that other engines match in exponential time takes no longer than others', async () => {
  const script = `match("${'a'.repeat(40)}!", r'^(a+)+$')`
  expect(await run(script)).toEqual({ status: 'completed', result: false })
})

test('scripts of several owners at once each get their own result', async () => {
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, index) => scripts.run(`owner ${index}`, '.index', { index })),
  )
  expect(results.map((outcome) => outcome.status === 'completed' && outcome.result)).toEqual([...Array(20).keys()])
})

test('a script that does not end is ended, and the next one runs', { timeout: 90_000 }, async () => {
  const hanging = `
    const { Socket } = require('node:net')
    const channel = new Socket({ fd: 3 })
    channel.on('data', (line) => {
      if (String(line).includes('endless')) for (;;);
      reply()
    })
    const reply = () => channel.write('{"outcome":{"status":"completed","result":1}}\\n')
    reply()`
  const others = await openHere(async () => hanging)
  try {
    expect(await others.run('test', 'first', {})).toEqual({ status: 'completed', result: 1 })
    expect(await others.run('test', 'endless', {})).toEqual({
      status: 'failed',
      reason: 'The script takes more than 2 s',
    })
    expect(await others.run('test', 'next', {})).toEqual({ status: 'completed', result: 1 })
  } finally {
    await others.close()
  }
})

test('a process that dies fails its script, and the next one has another process', async () => {
  let starts = 0
  const dying = await openHere(async () => (starts++ === 0 ? 'process.exit(3)' : bundleScripts()))
  try {
    await expect(dying.run('test', '1', {})).rejects.toThrow(ScriptsError)
    expect(await dying.run('test', '1', {})).toEqual({ status: 'completed', result: 1 })
  } finally {
    await dying.close()
  }
})

test('a compilation names the first fault with its position, in characters, and runs nothing', async () => {
  expect(await compile('assert!(false, message: "it was run")')).toEqual({ status: 'compiled' })
  expect(await compile('team = "Bücher"\n  to_string!(')).toEqual({
    status: 'faulty',
    line: 2,
    column: 14,
    message: 'syntax error (unexpected end of program)',
    faults: 1,
  })
  expect(await compile('"é"; parse_json(.a)\nunknown()')).toMatchObject({ status: 'faulty', line: 1, column: 17 })
})

test(
  'a script that is nested too deep fails, one whose compilation does not end too, and the next one runs',
  { timeout: 150_000 },
  async () => {
    const deep = `${'('.repeat(1000)}1${')'.repeat(1000)}`
    const endless = `${'map_values({}) -> |v| { '.repeat(60)}v${'}'.repeat(60)}`
    // Each ends its process, so that the next one is the first of another.
    expect(await run(deep)).toEqual(failure(/nested too deep/))
    expect(await run(endless)).toEqual(failure(/more than 2 s/))
    expect(await compile(deep)).toEqual(failure(/nested too deep/))
    expect(await run('1 + 1')).toEqual({ status: 'completed', result: 2 })
  },
)

test('a script fails whose result has numbers of too many digits', async () => {
  const doubled = `x = array!(parse_json!(s'[1e300]'))\n${'x = append(x, x)\n'.repeat(12)}x`
  expect(await run(doubled)).toMatchObject(failure(/more than 1 MB of digits/))
  expect(await run("parse_json!(s'[1e300]')")).toEqual({ status: 'completed', result: [1e300] })
})
