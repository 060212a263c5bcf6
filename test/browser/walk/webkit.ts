import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { glob } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { chatFrame, type VisitedPage, type Where } from './visited-page.ts'

/** The key under which the protocol refers to elements. */
const elementKey = 'element-6066-11e4-a52e-4f735466cecf'
type Element = Record<typeof elementKey, string>

/** Starts the WebKit of Debian by its WebDriver. @returns undefined where it is not installed */
export async function openWebKit(): Promise<VisitedPage | undefined> {
  const browsers = await Array.fromAsync(glob('/usr/lib/*/webkit2gtk-4.1/MiniBrowser'))
  if (browsers[0] === undefined) return undefined
  const port = await freePort()
  // Its own sandbox does not start for root and in containers. In the locale C, it has a language that no formatter accepts.
  const env = { ...process.env, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', LC_ALL: 'en_US.UTF-8' }
  const driver = spawn('WebKitWebDriver', [`--port=${port}`, '--host=127.0.0.1'], { stdio: 'ignore', env })
  await once(driver, 'spawn')
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(`${url}/status`).catch(() => undefined))) await delay(50)
  const webkitgtk = { binary: browsers[0], args: ['--automation'] }
  const capabilities = { alwaysMatch: { browserName: 'MiniBrowser', 'webkitgtk:browserOptions': webkitgtk } }
  const { sessionId, capabilities: given } = await ask<Session>('POST', '/session', { capabilities })

  async function ask<Value>(method: string, path: string, body?: object): Promise<Value> {
    const answer = await fetch(url + path, { method, ...(body && { body: JSON.stringify(body) }) })
    const { value } = (await answer.json()) as { value: Value & { error?: string; message?: string } }
    if (!answer.ok) throw new Error(`${value.error}: ${value.message}`)
    return value
  }

  const send = <Value>(path: string, body: object) => ask<Value>('POST', `/session/${sessionId}${path}`, body)
  const run = <Value>(script: string) => send<Value>('/execute/sync', { script: `return ${script}`, args: [] })

  async function enter(where: Where): Promise<void> {
    await send('/frame', { id: null })
    if (where === 'frame') await send('/frame', { id: await run<Element>(chatFrame) })
  }

  return {
    name: `WebKitGTK ${given.browserVersion}`,
    open: (address) => send('/url', { url: address }),
    async value(expression, where = 'page') {
      await enter(where)
      const script = `const done = arguments[0]; (async () => (${expression}))().then(done, (error) => done(String(error)))`
      return send('/execute/async', { script, args: [] })
    },
    async click(expression, where = 'page') {
      await enter(where)
      const found = await run<Element>(expression)
      await send(`/element/${found[elementKey]}/click`, {})
    },
    async press(keys) {
      const actions = Array.from(keys).flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ])
      await send('/actions', { actions: [{ type: 'key', id: 'keyboard', actions }] })
    },
    async [Symbol.asyncDispose]() {
      await ask('DELETE', `/session/${sessionId}`)
      driver.kill()
      await once(driver, 'exit')
    },
  }
}

interface Session {
  sessionId: string
  capabilities: { browserVersion: string }
}
