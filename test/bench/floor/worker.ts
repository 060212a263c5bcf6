import { randomUUID } from 'node:crypto'
import ivm from 'isolated-vm'
import { Pool } from 'pg'
import { poolSize } from '../system.ts'
import { environment, exitWhenAsked } from './environment.ts'
import { openFloorWorker } from './queue.ts'
import { openPublisher } from './signals.ts'

/** The floor's worker: one call into an isolate, one row and one signal for each message. */

const pool = new Pool({ connectionString: environment.databaseUrl, max: poolSize })
const publish = openPublisher(pool)
const context = await new ivm.Isolate({ memoryLimit: 64 }).createContext()
const reply = await context.eval(`text => 'You said ' + text`, { reference: true })

openFloorWorker(async ({ conversationId, text }) => {
  const said = (await reply.apply(undefined, [text], { result: { copy: true } })) as string
  const message = { id: randomUUID(), conversationId, payload: { type: 'text', text: said } }
  await pool.query('insert into messages (id, conversation_id, payload) values ($1, $2, $3)', [
    message.id,
    conversationId,
    JSON.stringify(message.payload),
  ])
  await publish(conversationId, JSON.stringify({ type: 'message_created', data: { ...message, isBot: true } }))
})

await exitWhenAsked()
