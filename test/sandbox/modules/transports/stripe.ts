import { Stripe } from 'stripe'
import { failureOf, timeoutMilliseconds, type Client } from './contract.ts'

function open(base: string, timeout?: number): Stripe {
  const { hostname, port } = new URL(base)
  return new Stripe('secret', {
    apiVersion: '2023-08-16',
    host: hostname,
    port: Number(port),
    protocol: 'http',
    maxNetworkRetries: 0,
    ...(timeout !== undefined && { timeout }),
  })
}

/** The client asks for the resources of its service, which the server of the matrix has as well. */
export const client: Client = {
  get: async (base) => (await open(base).products.retrieve('json')).metadata,
  post: async (base) => (await open(base).customers.create({ name: 'Grüße' })).name,
  auth: async (base) => (await open(base).balance.retrieve()).object,
  refusal: async (base) => {
    try {
      return await open(base).products.retrieve('422')
    } catch (error) {
      const { statusCode, raw } = error as { statusCode: number; raw: { detail: string } }
      return { status: statusCode, data: { detail: raw.detail } }
    }
  },
  timeout: async (base) => failureOf(open(base, timeoutMilliseconds).products.retrieve('never')),
  multipart: async (base) => {
    const file = { data: Buffer.from('file contents'), name: 'a.txt', type: 'text/plain' }
    return open(base).files.create({ purpose: 'dispute_evidence', file }, { host: new URL(base).hostname })
  },
  refused: async (_base, closed) => {
    try {
      return await open(closed).balance.retrieve()
    } catch (error) {
      return (error as { detail: { code: string } }).detail.code
    }
  },
}
