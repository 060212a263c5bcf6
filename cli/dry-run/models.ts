import type { HostReply, HostStream, JsonObject } from '#sandbox/protocol/contract.ts'
import { libraryWires } from '#shared/llm/library-wires.ts'
import type { GenerateTextChunk, GenerateTextOutput } from '#shared/models/language-model.ts'
import { answersInLines, type Operation } from '#shared/rpc/operation.ts'

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

/** Whether an operation asks language models: all have the answers of `generateText`, unless they have some of their own. */
export function isGeneration({ name }: Operation): boolean {
  return name === 'generateText' || name === 'generateTextStream' || Object.hasOwn(libraryWires, name)
}

/** The answer to a request that asks language models, as the platform writes it. */
export function toGenerationReply(operation: Operation, body: JsonObject, answer: JsonObject): HostReply | HostStream {
  const { name, status } = operation
  const wire = libraryWires[name]
  const { model = 'auto' } = body as { model?: string }
  const head = { id: 'dry-run', model }
  const whole = answer as unknown as GenerateTextOutput
  if (!answersInLines(operation, body)) {
    return { status, body: wire ? (wire.toAnswer(whole, head) as JsonObject) : answer }
  }
  const chunks = chunksOf(whole)
  return toHostStream(operation, wire ? chunks.flatMap(wire.toLines(body, head)) : chunks)
}

/** An answer as two chunks: the text, and the end. */
function chunksOf({ output, ...rest }: GenerateTextOutput): GenerateTextChunk[] {
  const created = Math.floor(Date.now() / 1000)
  return [
    { created, output, finished: false },
    { created, output: '', finished: true, ...rest },
  ]
}

function toHostStream({ status, lineFormat: { contentType, write, end } }: Operation, lines: object[]): HostStream {
  async function* parts() {
    for (const line of lines) yield Buffer.from(write(line))
    if (end !== undefined) yield Buffer.from(end)
  }
  return { status, contentType, parts: parts(), cancel() {} }
}
