import ivm from 'isolated-vm'
import { answerQuestions } from '../asked-process.ts'
import { replyTo } from '../bundles/platform.ts'
import { botSource, type BotKind, type BotInput, type BotOutput } from './bots.ts'
import { measureBots, type Bot } from './measure.ts'

/**
 * A floor: isolates in the calling process, with no other isolation layer, no limit but the heap's, and V8's compilers.
 * It shows the cost of isolated-vm itself.
 */

answerQuestions(measureBots(startBot))

const copied = { arguments: { copy: true }, result: { copy: true, promise: true } } as const

async function startBot(kind: BotKind): Promise<Bot> {
  const isolate = new ivm.Isolate({ memoryLimit: 64 })
  const context = await isolate.createContext()
  await context.global.set('createMessage', new ivm.Reference(createMessage))
  const code = `(() => {
    const handle = ${botSource(kind)}
    const options = { arguments: { copy: true }, result: { copy: true, promise: true } }
    const client = { createMessage: (input) => createMessage.apply(undefined, [input], options) }
    return (input) => handle(input, client)
  })()`
  const handle = await context.eval(code, { reference: true })
  return {
    call: (input: BotInput) => handle.apply(undefined, [input], copied) as Promise<BotOutput>,
    stop: () => isolate.dispose(),
  }
}

async function createMessage(): Promise<unknown> {
  return replyTo('POST', '/v1/chat/messages').body
}
