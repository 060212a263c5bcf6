import type { ModelRequest } from './provider-calls.ts'

interface WholeRequest<Answer> {
  /** Sends the request, once. The signals are those of `ModelRequest`. */
  send(...given: Parameters<ModelRequest<never, Answer>['send']>): Promise<Answer>
  billed: ModelRequest<never, Answer>['billed']
}

/** Makes a request whose answer has no pieces. */
export function wholeRequest<Answer>({ send, billed }: WholeRequest<Answer>): ModelRequest<never, Answer> {
  return {
    isStreamed: false,
    hasBegun: false,
    // It has no pieces.
    // oxlint-disable-next-line require-yield
    async *send(provider, signals) {
      return await send(provider, signals)
    },
    billed,
  }
}
