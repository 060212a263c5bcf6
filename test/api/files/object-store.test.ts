import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { Processes } from '../../support/processes.ts'
import { startS3, type S3Server } from '../../support/s3.ts'
import { insertFile, type TestFile } from './fixture.ts'

const parts = new AsyncDisposableStack()
const processes = new Processes()
let s3: S3Server
let platform: Platform
let port: string
let file: TestFile
beforeAll(async () => {
  s3 = parts.use(await startS3())
  platform = parts.use(await openPlatform({ worker: false, backEnd: 'postgres', environment: s3.environment }))
  port = String(await freePort())
  parts.defer(() => processes.stop())
  await processes.start(platform, 'api', { PORT: port })
  await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/health`), { timeout: 20_000, interval: 50 })
})
beforeEach(async () => {
  s3.instead = undefined
  file = await insertFile(platform, (await platform.createBot()).id)
  await fetch(file.uploadUrl, { method: 'PUT', body: 'content' })
})
afterAll(() => parts.disposeAsync())

/** Reads the content from the process of its own. */
async function read(headers: Record<string, string> = {}): Promise<string> {
  const address = new URL(await file.url())
  address.port = port
  const response = await fetch(address, { headers })
  return response.text()
}

function answerInParts(outgoing: ServerResponse): void {
  outgoing.write('con')
  outgoing.end('tent')
}

const wrongAnswers: [string, (outgoing: ServerResponse) => void, Record<string, string>][] = [
  ['no length, as through a proxy that compresses', answerInParts, {}],
  ['fewer bytes than were uploaded', (outgoing) => void outgoing.end('con'), {}],
  ['the whole content in place of a range', (outgoing) => void outgoing.end('content'), { range: 'bytes=1-3' }],
]
test.each(wrongAnswers)(
  'an api whose object store sends %s cuts its answer off, and serves on',
  async (_name, answer, headers) => {
    s3.instead = ({ method }, outgoing) => {
      if (method === 'GET') answer(outgoing)
      return method === 'GET'
    }
    await expect(read(headers)).rejects.toThrow(/terminated|fetch failed/)
    s3.instead = undefined
    expect(await read()).toBe('content')
  },
)
