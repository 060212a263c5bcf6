import { casesOf, type Axios } from './axios.ts'
import type { Client } from './contract.ts'

/** With a response that is read as a stream, for which code relies on Node's. */
export function casesWithStreams(axios: Axios): Client {
  return {
    ...casesOf(axios),
    download: async (base) => {
      const { data } = await axios.get(`${base}/stream`, { responseType: 'stream' })
      let bytes = 0
      for await (const chunk of data as AsyncIterable<Buffer>) bytes += chunk.length
      return bytes
    },
  }
}
