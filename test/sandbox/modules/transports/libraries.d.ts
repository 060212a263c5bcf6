/** Clients without declarations. */

declare module 'node-fetch-2' {
  const fetch: (url: string, options?: object) => Promise<never>
  export default fetch
}

declare module 'superagent' {
  import type { Writable } from 'node:stream'

  /** The part that the matrix uses. */
  export interface Request extends Promise<{ status: number; body: unknown }>, Writable {
    set(name: string, value: string): this
    send(body: object): this
    auth(user: string, password: string): this
    ok(isFine: (response: { status: number }) => boolean): this
    timeout(milliseconds: number): this
    attach(name: string, content: Buffer, fileName: string): this
  }

  const superagent: Record<'get' | 'post', (url: string) => Request>
  export default superagent
}
