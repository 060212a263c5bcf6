import { Readable } from 'node:stream'
import { codeOf, failureOf, timeoutMilliseconds, uploadBytes, type Client } from './contract.ts'

interface Answer {
  status: number
  body: AsyncIterable<Buffer | string> | null
  json(): Promise<unknown>
}

type Fetch = (url: string, options?: object) => Promise<Answer>

/** @param makeForm makes the form with the file; its headers, where the client does not find them itself */
export function casesOf(fetch: Fetch, makeForm: () => { body: unknown; headers?: object }): Client {
  const post = async (url: string, options: object) => (await fetch(url, { method: 'POST', ...options })).json()
  return {
    get: async (base) => (await fetch(`${base}/json`, { headers: { 'x-given': 'yes' } })).json(),
    post: async (base) =>
      post(`${base}/echo`, {
        body: JSON.stringify({ text: 'Grüße' }),
        headers: { 'content-type': 'application/json' },
      }),
    auth: async (base) => {
      const authorization = `Basic ${Buffer.from('ada:secret').toString('base64')}`
      return (await fetch(`${base}/auth`, { headers: { authorization } })).json()
    },
    redirect: async (base) => (await fetch(`${base}/redirect`)).json(),
    gzip: async (base) => (await fetch(`${base}/gzip`)).json(),
    refusal: async (base) => {
      const response = await fetch(`${base}/422`)
      return { status: response.status, data: await response.json() }
    },
    timeout: async (base) => {
      const controller = new AbortController()
      setTimeout(() => controller.abort(), timeoutMilliseconds)
      return failureOf(fetch(`${base}/never`, { signal: controller.signal }))
    },
    multipart: async (base) => post(`${base}/form`, makeForm()),
    download: async (base) => {
      const { body } = await fetch(`${base}/stream`)
      let bytes = 0
      for await (const chunk of body!) bytes += chunk.length
      return bytes
    },
    upload: async (base) => {
      const body = Readable.from(Array.from({ length: 30 }, () => Buffer.alloc(uploadBytes / 30, 'x')))
      return post(`${base}/count`, { body })
    },
    refused: async (_base, closed) => codeOf(fetch(closed)),
  }
}
