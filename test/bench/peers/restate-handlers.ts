import { exitWhenAsked } from '../floor/environment.ts'
import { importPackage } from './packages.ts'

/** The handlers of Restate: a virtual object for each conversation, with one durable step and one write of its state. */

interface ObjectContext {
  run<Result>(name: string, step: () => Result): Promise<Result>
  set(name: string, value: unknown): void
}

interface Restate {
  object(definition: {
    name: string
    handlers: Record<string, (context: ObjectContext, input: { text: string }) => Promise<unknown>>
  }): unknown
  serve(options: { services: unknown[]; port: number }): Promise<number>
}

const restate = await importPackage<Restate>(process.env.PACKAGES ?? '', '@restatedev/restate-sdk')

const conversation = restate.object({
  name: 'Conversation',
  handlers: {
    async say(context, { text }) {
      const reply = await context.run('reply', () => ({ text: `You said ${text}` }))
      context.set('last', { text, reply })
      return reply
    },
  },
})
await restate.serve({ services: [conversation], port: Number(process.env.PORT) })

await exitWhenAsked()
