import { createServer } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { exitWhenAsked } from '../floor/environment.ts'
import { importPackage } from './packages.ts'

/** DBOS: a workflow for each message, in the partition of its conversation, with one recorded step. */

type Workflow = (text: string, requestId: number) => Promise<void>

interface Dbos {
  DBOS: {
    setConfig(configuration: object): void
    launch(): Promise<void>
    registerQueue(name: string, parameters: object): Promise<unknown>
    registerWorkflow(workflow: Workflow, options: { name: string }): Workflow
    runStep<Result>(step: () => Promise<Result>, options: { name: string }): Promise<Result>
    startWorkflow(
      workflow: Workflow,
      options: { queueName: string; enqueueOptions: { queuePartitionKey: string } },
    ): (text: string, requestId: number) => Promise<unknown>
  }
}

const queueName = 'conversations'
/** The default is a second. DBOS finds new workflows by polling alone. */
const minPollingIntervalMs = 5

const { DBOS } = await importPackage<Dbos>(process.env.PACKAGES ?? '', '@dbos-inc/dbos-sdk')
DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: process.env.DATABASE_URL,
  systemDatabasePoolSize: Number(process.env.DATABASE_POOL),
  logLevel: 'error',
})

/** The requests that wait for a reply. DBOS's own way to wait for a result polls the database. */
const waiting = new Map<number, (reply: string) => void>()
let requests = 0

const respond = DBOS.registerWorkflow(
  async (text, requestId) => {
    const reply = await DBOS.runStep(async () => `You said ${text}`, { name: 'reply' })
    waiting.get(requestId)?.(reply)
    waiting.delete(requestId)
  },
  { name: 'respond' },
)
await DBOS.launch()
await DBOS.registerQueue(queueName, { partitionConcurrency: 1, minPollingIntervalMs })

createServer((request, response) => {
  const [, conversationId] = /^\/Conversation\/([\w-]+)\/say$/.exec(request.url ?? '') ?? []
  if (!conversationId) {
    response.statusCode = request.url === '/readyz' ? 200 : 404
    response.end()
    return
  }
  const requestId = requests++
  const replied = new Promise<string>((resolve) => waiting.set(requestId, resolve))
  const answer = async () => {
    const { text } = JSON.parse(await readText(request)) as { text: string }
    const options = { queueName, enqueueOptions: { queuePartitionKey: conversationId } }
    await DBOS.startWorkflow(respond, options)(text, requestId)
    const body = JSON.stringify({ text: await replied })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  }
  answer().catch((error: unknown) => {
    console.error(error)
    response.destroy()
  })
}).listen(Number(process.env.PORT), '127.0.0.1')

await exitWhenAsked()
