import { answerQuestions } from '../asked-process.ts'
import { replyTo } from '../bundles/platform.ts'
import { botSource, type BotInput, type BotKind, type BotOutput } from './bots.ts'
import { measureBots, type Bot } from './measure.ts'

/** Deno's side: each bot is a worker without permissions, called by messages. */

interface DenoWorker {
  postMessage(message: object): void
  addEventListener(type: 'message', listener: (event: { data: WorkerMessage }) => void): void
  terminate(): void
}
declare const Worker: new (url: string, options: object) => DenoWorker

/** A message of a worker: the end of a call, or the bot's call to the platform. */
type WorkerMessage = { over: number; output: BotOutput } | { asked: number; input: object }

answerQuestions(measureBots(startBot))

async function startBot(kind: BotKind): Promise<Bot> {
  const url = `data:text/javascript,${encodeURIComponent(workerSource(kind))}`
  const worker = new Worker(url, { type: 'module', deno: { permissions: 'none' } })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A worker has no origin to choose.
  const post = (message: object) => worker.postMessage(message)
  const waiting = new Map<number, (output: BotOutput) => void>()
  let calls = 0
  worker.addEventListener('message', ({ data }) => {
    if ('asked' in data) return post({ reply: data.asked, body: replyTo('POST', '/v1/chat/messages').body })
    waiting.get(data.over)?.(data.output)
    waiting.delete(data.over)
  })
  return {
    call: (input: BotInput) =>
      new Promise((resolve) => {
        waiting.set(++calls, resolve)
        post({ call: calls, input })
      }),
    stop: () => worker.terminate(),
  }
}

function workerSource(kind: BotKind): string {
  const needs = kind === 'buffer' ? `import { Buffer } from 'node:buffer'` : ''
  return `${needs}
    const handle = ${botSource(kind)}
    const waiting = new Map()
    let asked = 0
    const client = {
      createMessage: (input) => new Promise((resolve) => {
        waiting.set(++asked, resolve)
        postMessage({ asked, input })
      }),
    }
    onmessage = async ({ data }) => {
      if ('call' in data) return postMessage({ over: data.call, output: await handle(data.input, client) })
      waiting.get(data.reply)(data.body)
      waiting.delete(data.reply)
    }`
}
