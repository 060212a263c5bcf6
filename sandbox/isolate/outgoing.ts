import type { BotExports } from './bot-module.ts'
import { callHooks } from './hooks.ts'
import { isObject, record } from './primordials.ts'
import type { KernelRun } from './run.ts'

type Fields = Record<string, unknown>

/** An operation with hooks before and after it. */
export interface HookedOperation {
  before: string
  after: string
  /** The name under which hooks get the outgoing data. */
  subject: string
  /** Reads the outgoing data from the operation's input. */
  fromInput(input: unknown): unknown
  /** The data that the hooks after the operation get. */
  fromReply(sent: unknown, reply: Fields): unknown
  /** The operation's result, after its hooks. */
  toReply(subject: unknown, reply: Fields): Fields
  /** The operation's result when a hook has stopped it. */
  stopped(): Fields
}

/** The operations that have hooks, by name. */
export const hookedOperations: Record<string, HookedOperation | undefined> = record({
  createMessage: {
    before: 'beforeOutgoingMessage',
    after: 'afterOutgoingMessage',
    subject: 'message',
    fromInput: (input) => input,
    fromReply: (_sent, reply) => reply['message'],
    toReply: (message, reply) => ({ ...reply, message }),
    stopped: () => ({ message: null }),
  },
  callAction: {
    before: 'beforeCallAction',
    after: 'afterCallAction',
    subject: 'action',
    fromInput: (input) => input,
    fromReply: (sent, reply) => ({ ...(isObject(sent) ? sent : {}), output: reply['output'] }),
    toReply: (action, reply) => ({ ...reply, output: (action as Fields)['output'] }),
    stopped: () => ({ output: {} }),
  },
} satisfies Record<string, HookedOperation>)

export interface Sending {
  run: KernelRun
  bot: BotExports
  hooks: HookedOperation
  input: unknown
  send: (input: unknown) => Promise<unknown>
  /** The arguments of hooks besides the subject. */
  context: () => object
}

/** Performs an operation with the bot's hooks around it. */
export async function sendHooked({ run, bot, hooks, input, send, context }: Sending): Promise<unknown> {
  let subject = input
  const stage = (name: string) => ({
    name,
    argument: () => ({ [hooks.subject]: subject, ...context() }),
    replace: (data: Fields) => {
      subject = data
    },
  })

  if (await callHooks(run, bot, stage(hooks.before))) return hooks.stopped()
  const answered = await send(subject)
  const reply = isObject(answered) ? answered : {}
  subject = hooks.fromReply(subject, reply)
  await callHooks(run, bot, stage(hooks.after))
  return hooks.toReply(subject, reply)
}
