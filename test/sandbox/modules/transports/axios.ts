import { Readable } from 'node:stream'
import FormData from 'form-data'
import { codeOf, failureOf, timeoutMilliseconds, uploadBytes, type Client } from './contract.ts'

export interface Axios {
  get(url: string, options?: object): Promise<{ status: number; data: unknown }>
  post(url: string, body: unknown, options?: object): Promise<{ status: number; data: unknown }>
}

/** The cases of axios, whose versions have the same methods. */
export function casesOf(axios: Axios): Client {
  return {
    get: async (base) => (await axios.get(`${base}/json`, { headers: { 'x-given': 'yes' } })).data,
    post: async (base) => (await axios.post(`${base}/echo`, { text: 'Grüße' })).data,
    auth: async (base) => (await axios.get(`${base}/auth`, { auth: { username: 'ada', password: 'secret' } })).data,
    redirect: async (base) => (await axios.get(`${base}/redirect`)).data,
    gzip: async (base) => (await axios.get(`${base}/gzip`)).data,
    refusal: async (base) => {
      const { status, data } = await axios.get(`${base}/422`, { validateStatus: (code: number) => code === 422 })
      return { status, data }
    },
    timeout: async (base) => failureOf(axios.get(`${base}/never`, { timeout: timeoutMilliseconds })),
    multipart: async (base) => {
      const form = new FormData()
      form.append('file', Buffer.from('file contents'), { filename: 'a.txt' })
      return (await axios.post(`${base}/form`, form, { headers: form.getHeaders() })).data
    },
    upload: async (base) => {
      const body = Readable.from(Array.from({ length: 30 }, () => Buffer.alloc(uploadBytes / 30, 'x')))
      return (await axios.post(`${base}/count`, body, { maxRedirects: 0 })).data
    },
    refused: async (_base, closed) => codeOf(axios.get(closed)),
  }
}
