import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import { answerQuestions } from '../asked-process.ts'
import type { EchoBot } from './echo-bots.ts'
import { measureEvents, measureStarts, type Handle, type Measured } from './measure.ts'
import { replyTo } from './platform.ts'

/** The floor: a process of plain Node that evaluates bundles as modules in its own realm and calls their exports. */

interface BotModule {
  hooks: { afterIncomingMessage(argument: object): Promise<void> }
  handler(request: object): Promise<{ status: number }>
}

const require = createRequire(import.meta.url)
let evaluations = 0
let calls = 0

globalThis.fetch = async (input, options) => {
  calls++
  const { method, url } = new Request(input, options)
  const { status, body } = replyTo(method, new URL(url).pathname)
  return Response.json(body, { status })
}

const client = {
  async createMessage() {
    calls++
    return replyTo('POST', '/v1/chat/messages').body
  },
}

answerQuestions(async (bot: EchoBot): Promise<Measured> => {
  const start = () => startBot(bot)
  await start()
  const { cold, handle } = await measureStarts(start)
  return { cold, warm: await measureEvents(handle) }
})

async function startBot(bot: EchoBot): Promise<Handle> {
  const { hooks, handler } = evaluate(bot)
  const respond = {
    native: () => hooks.afterIncomingMessage({ event: bot.input, client }),
    sdk: () => handler(bot.input),
  }[bot.kind]
  const handle = async () => {
    calls = 0
    const response = await respond()
    if (calls === bot.calls) return
    throw new Error(`The ${bot.kind} bot made ${calls} calls and answered ${JSON.stringify(response)}`)
  }
  await handle()
  return handle
}

function evaluate({ code, environment }: EchoBot): BotModule {
  // Otherwise V8 would reuse the compilation of the same text.
  const text = `${code}\n// ${++evaluations}`
  const wrapper = compileFunction(text, ['module', 'exports', 'require', 'process'])
  const module = { exports: {} }
  wrapper(module, module.exports, require, processOf(environment))
  return module.exports as BotModule
}

/**
 * Node's process without its `Symbol.toStringTag`, which would make the SDK's HTTP client choose sockets instead of
 * `fetch`.
 */
function processOf(environment: Record<string, string>): object {
  return Object.create(process, { env: { value: environment }, [Symbol.toStringTag]: { value: 'Object' } }) as object
}
