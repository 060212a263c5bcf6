import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { takeTurn } from '../../api/console/build-lock.ts'
import { openConsole } from '../../api/console/pages.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { building, untilBuilt } from './built.ts'

const pages = openConsole(createLogger('test', 'silent'))
const server = createServer(express().use(pages.router))
let url: string
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await untilBuilt(url)
}, building)
afterAll(() => {
  pages.close()
  server.close()
})

test('every address of the console is its page, which is asked for anew each time and runs no script but its own', async () => {
  const [start, deep] = await Promise.all(['/console', '/console/bots/any/events'].map((path) => fetch(url + path)))
  expect(await deep!.text()).toBe(await start!.text())
  expect(start!.headers.get('cache-control')).toBe('no-cache')
  const policy = start!.headers.get('content-security-policy')
  expect(policy).toContain("script-src 'self';")
  expect(policy).toContain("connect-src 'self';")
  expect(policy).toContain("default-src 'none';")
})

test('the address of the platform itself leads to it', async () => {
  const response = await fetch(`${url}/`)
  expect({ url: response.url, status: response.status }).toEqual({ url: `${url}/console`, status: 200 })
})

test('its files are compressed and kept for good, and nothing else can be asked for', async () => {
  const html = await (await fetch(`${url}/console`)).text()
  const [, script] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(html)!
  const file = await fetch(url + script)
  expect(file.headers.get('content-encoding')).toBe('gzip')
  expect(file.headers.get('content-type')).toMatch(/^text\/javascript/)
  expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  const plain = await fetch(url + script, { headers: { 'accept-encoding': 'identity' } })
  expect(plain.headers.get('content-encoding')).toBeNull()
  expect(await plain.text()).toBe(await file.text())
  const others = ['nothing.js', '..%2findex.html', '%2e%2e%2f..%2f..%2fpackage.json']
  const answers = await Promise.all(others.map((path) => fetch(`${url}/console/assets/${path}`)))
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
})

test('one of several processes builds at a time, and one that ended in the middle holds up nobody', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'console-'))
  const lock = join(directory, 'building')
  try {
    const { pid } = spawnSync(process.execPath, ['--version'])
    await writeFile(lock, String(pid))
    const first = await takeTurn(lock)
    let isSecond = false
    const second = takeTurn(lock).then((turn) => ((isSecond = true), turn))
    expect(await readFile(lock, 'utf8')).toBe(String(process.pid))
    expect(isSecond).toBe(false)
    await first[Symbol.asyncDispose]()
    await (await second)[Symbol.asyncDispose]()
    for (const left of ['', String(process.pid)]) {
      await writeFile(lock, left)
      await utimes(lock, 0, 0)
      await (await takeTurn(lock))[Symbol.asyncDispose]()
    }
  } finally {
    await rm(directory, { recursive: true })
  }
})
