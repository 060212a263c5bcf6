import type { HostStream, Json, JsonObject } from '#sandbox/protocol/contract.ts'

/**
 * The author's answer of a model, with the fields that it leaves out: `{ output: 'Hello' }`. An output that is no text is its
 * JSON, as a model writes it.
 */
export function completeGeneration(answer: JsonObject): JsonObject {
  const { output = '', metadata = {}, ...others } = answer
  return {
    ...others,
    output: typeof output === 'string' ? output : JSON.stringify(output),
    metadata: {
      provider: 'dry-run',
      model: 'dry-run:model',
      usage: { inputTokens: 0, inputCost: 0, outputTokens: 0, outputCost: 0 },
      cost: 0,
      cached: false,
      latency: 0,
      stopReason: answer['toolCalls'] === undefined ? 'stop' : 'tool_calls',
      fallbackPath: [],
      ...(metadata as JsonObject),
    },
  }
}

/** An answer as a stream of two lines: the text, and the end. */
export function toLines({ output, ...rest }: JsonObject): Pick<HostStream, 'parts' | 'cancel'> {
  const created = Math.floor(Date.now() / 1000)
  const lines: Json[] = [
    { created, output: output!, finished: false },
    { created, output: '', finished: true, ...rest },
  ]
  async function* parts() {
    for (const line of lines) yield Buffer.from(`${JSON.stringify(line)}\n`)
  }
  return { parts: parts(), cancel() {} }
}
