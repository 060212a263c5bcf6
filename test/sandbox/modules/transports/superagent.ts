import { PassThrough, Readable } from 'node:stream'
import superagent from 'superagent'
import { codeOf, failureOf, timeoutMilliseconds, uploadBytes, type Client } from './contract.ts'

export const client: Client = {
  get: async (base) => (await superagent.get(`${base}/json`).set('x-given', 'yes')).body,
  post: async (base) => (await superagent.post(`${base}/echo`).send({ text: 'Grüße' })).body,
  auth: async (base) => (await superagent.get(`${base}/auth`).auth('ada', 'secret')).body,
  redirect: async (base) => (await superagent.get(`${base}/redirect`)).body,
  gzip: async (base) => (await superagent.get(`${base}/gzip`)).body,
  refusal: async (base) => {
    const { status, body } = await superagent
      .get(`${base}/422`)
      .ok(({ status: code }: { status: number }) => code === 422)
    return { status, data: body }
  },
  timeout: async (base) => failureOf(superagent.get(`${base}/never`).timeout(timeoutMilliseconds)),
  multipart: async (base) =>
    (await superagent.post(`${base}/form`).attach('file', Buffer.from('file contents'), 'a.txt')).body,
  download: async (base) => {
    const through = superagent.get(`${base}/stream`).pipe(new PassThrough()) as AsyncIterable<Buffer>
    let bytes = 0
    for await (const chunk of through) bytes += chunk.length
    return bytes
  },
  upload: (base) =>
    new Promise((resolve, reject) => {
      const body = Readable.from(Array.from({ length: 30 }, () => Buffer.alloc(uploadBytes / 30, 'x')))
      const request = superagent.post(`${base}/count`)
      void request.on('response', (response: { body: unknown }) => resolve(response.body))
      void request.on('error', reject)
      void body.pipe(request)
    }),
  refused: async (_base, closed) => codeOf(superagent.get(closed)),
}
