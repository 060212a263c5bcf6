import { once } from 'node:events'
import { glob, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import express, { type ErrorRequestHandler } from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowsers, namesOf, webchatBrowsers } from '../../api/console/browsers.ts'
import { outputDirectory, root } from '../../api/console/output.ts'
import { consolePages } from '../../api/console/pages.ts'
import { building, buildConsole } from './built.ts'

const asJson: ErrorRequestHandler = (error, _request, response, _next) => response.status(error.status).json(error)
const unbuilt = express().use(consolePages(join(outputDirectory, 'absent')))
const server = createServer(express().use('/unbuilt', unbuilt).use(consolePages()).use(asJson))
let url: string
beforeAll(async () => {
  await buildConsole()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}, building)
afterAll(() => server.close())

test('every address of the console is its page, which is asked for anew each time and runs no script but its own', async () => {
  const [start, deep] = await Promise.all(['/console', '/console/bots/any/events'].map((path) => fetch(url + path)))
  expect(await deep!.text()).toBe(await start!.text())
  expect(start!.headers.get('cache-control')).toBe('no-cache')
  const policy = start!.headers.get('content-security-policy')
  expect(policy).toContain("script-src 'self';")
  expect(policy).toContain("connect-src 'self';")
  expect(policy).toContain("default-src 'none';")
})

/** The text of a page of the documentation, as one line. */
async function pageOf(name: string): Promise<string> {
  return (await readFile(join(root, 'docs', name), 'utf8')).replaceAll(/\s+/g, ' ')
}

test('the page, until its script runs, and the documentation name the browsers that it needs', async () => {
  const html = await (await fetch(`${url}/console`)).text()
  expect(html.replaceAll(/\s+/g, ' ')).toContain(`it needs ${namesOf(consoleBrowsers)}, or a newer version`)
  expect(await pageOf('console.md')).toContain(`It needs ${namesOf(consoleBrowsers)}, or a newer version`)
  expect(await pageOf('web-chat.md')).toContain(`The chat needs ${namesOf(webchatBrowsers)}, or a newer version`)
})

test('phones with Safari show texts in the sizes that their styles have', async () => {
  const names = await Array.fromAsync(glob('**/*.css', { cwd: outputDirectory }))
  const own = names.filter((name) => /\/(index|frame)-[^/]+$/.test(name))
  expect(own).toHaveLength(2)
  for (const name of own) {
    expect(await readFile(join(outputDirectory, name), 'utf8')).toContain('-webkit-text-size-adjust:100%')
  }
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

test('a console that is not built is not found, and the answer names the command that builds it', async () => {
  const response = await fetch(`${url}/unbuilt/console/bots`)
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({
    type: 'ResourceNotFound',
    message: 'Console not found: it is not built on this server; run "npm run build" there',
  })
  expect((await fetch(`${url}/unbuilt/console/assets/index.js`)).status).toBe(404)
})
