import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'
import { findOnPath } from '../../support/system-package.ts'
import type { VisitedPage, Where } from './visited-page.ts'

/** Starts the system's Firefox with an empty profile, by WebDriver BiDi. @returns undefined where it is not installed */
export async function openFirefox(): Promise<VisitedPage | undefined> {
  const program = await findOnPath(['firefox-esr', 'firefox'])
  if (program === undefined) return undefined
  const profile = await mkdtemp(join(tmpdir(), 'isobot-firefox-'))
  // Without it, no sound begins on a machine that has no device for sounds.
  await writeFile(join(profile, 'user.js'), 'user_pref("media.cubeb.force_mock_context", true);\n')
  const flags = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0']
  const browser = spawn(program, flags, { stdio: ['ignore', 'ignore', 'pipe'] })
  const address = await addressIn(createInterface(browser.stderr))
  const socket = new WebSocket(`${address}/session`)
  await once(socket, 'open')
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  socket.on('message', (data: Buffer) => {
    const { id, error, message, result } = JSON.parse(data.toString()) as Answer
    if (error === undefined) waiting.get(id)?.resolve(result)
    else waiting.get(id)?.reject(new Error(`${error}: ${message}`))
  })
  let sentSoFar = 0

  function send<Result>(method: string, params: object): Promise<Result> {
    const id = ++sentSoFar
    const answer = Promise.withResolvers<unknown>()
    waiting.set(id, answer)
    socket.send(JSON.stringify({ id, method, params }))
    return answer.promise as Promise<Result>
  }

  const { capabilities } = await send<Session>('session.new', { capabilities: {} })
  const tree = () => send<Tree>('browsingContext.getTree', {})

  async function contextOf(where: Where): Promise<string> {
    const [page] = (await tree()).contexts
    if (where === 'page') return page!.context
    const [frame] = page!.children
    if (!frame) throw new Error('The page has no frame')
    return frame.context
  }

  async function value<Value>(expression: string, where: Where = 'page'): Promise<Value> {
    const context = await contextOf(where)
    const answer = await send<Evaluated>('script.evaluate', {
      expression: `(async () => JSON.stringify((await (${expression})) ?? null))()`,
      target: { context },
      awaitPromise: true,
    })
    if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text)
    return JSON.parse(answer.result.value) as Value
  }

  return {
    name: `Firefox ${capabilities.browserVersion}`,
    async open(url) {
      await send('browsingContext.navigate', { context: await contextOf('page'), url, wait: 'complete' })
    },
    value,
    async click(expression, where = 'page') {
      const middle = `((box) => [box.x + box.width / 2, box.y + box.height / 2])((${expression}).getBoundingClientRect())`
      const [x, y] = (await value<number[]>(middle, where)).map(Math.floor)
      const actions = [
        { type: 'pointerMove', x, y },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ]
      const context = await contextOf(where)
      await send('input.performActions', { context, actions: [{ type: 'pointer', id: 'mouse', actions }] })
    },
    async press(keys) {
      const actions = Array.from(keys).flatMap((key) => [
        { type: 'keyDown', value: key },
        { type: 'keyUp', value: key },
      ])
      const context = await contextOf('page')
      await send('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] })
    },
    async [Symbol.asyncDispose]() {
      socket.terminate()
      browser.kill()
      await once(browser, 'exit')
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function addressIn(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const [address] = /ws:\/\/\S+/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('Firefox has ended before it listened')
}

interface Answer {
  id: number
  error?: string
  message?: string
  result?: unknown
}

interface Session {
  capabilities: { browserVersion: string }
}

interface Tree {
  contexts: { context: string; children: { context: string }[] }[]
}

type Evaluated =
  | { type: 'success'; result: { value: string } }
  | { type: 'exception'; exceptionDetails: { text: string } }
