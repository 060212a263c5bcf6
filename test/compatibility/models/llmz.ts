import { execFile } from 'node:child_process'
import { isDeepStrictEqual, promisify } from 'node:util'
import { CognitiveBeta } from '@botpress/cognitive'
import type { OwnPlatform } from '../../support/own-platform.ts'
import type { Recording } from './replay.ts'

const run = promisify(execFile)

/** The last commit whose file of recordings a snapshot of the repository has. */
const recordings = '3e08005607:packages/llmz/e2e/__tests__/cache.jsonl'

type Input = Parameters<CognitiveBeta['generateTextStream']>[0]

/** A stream that `llmz` asked for and got. */
interface RecordedStream {
  input: Input
  recording: Recording
}

interface Chunk {
  output?: string
  metadata?: { stopReason?: string; usage: Recording['usage'] }
}

/** @param source a git directory of the public repository, with its history */
export async function readStreams(source: string): Promise<RecordedStream[]> {
  const { stdout } = await run('git', ['-C', source, 'show', recordings], { maxBuffer: 64 * 1024 * 1024 })
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { input: text, chunks } = JSON.parse(line) as { input: string; chunks: Chunk[] }
      const input = JSON.parse(text) as Input
      const { stopReason, usage } = chunks.at(-1)!.metadata!
      const texts = input.messages.flatMap(({ content }) =>
        typeof content === 'string' ? [content] : (content ?? []).map(({ text = '' }) => text),
      )
      const pieces = chunks.flatMap(({ output = '' }) => (output === '' ? [] : [output]))
      return { input, recording: { texts, traits: {}, pieces, stopReason, usage } }
    })
}

/**
 * Asks for the recorded streams of `llmz` with the published client, and compares what comes.
 *
 * @returns a line of Markdown
 */
export async function replayStreams(streams: RecordedStream[], platform: OwnPlatform): Promise<string[]> {
  const { url: apiUrl, token, botId } = platform
  const client = new CognitiveBeta({ apiUrl, token, botId })
  const wrong: string[] = []
  let chunks = 0
  for (const [index, { input, recording }] of streams.entries()) {
    const { pieces, stopReason, usage } = recording
    const expected = { text: pieces.join(''), stopReason, input: usage.inputTokens, output: usage.outputTokens }
    const got = await read(client, input).catch((error: unknown) => ({ chunks: 0, end: messageOf(error) }))
    chunks += got.chunks
    if (!isDeepStrictEqual(got.end, expected)) wrong.push(`  - stream ${index}: ${JSON.stringify(got.end)}`)
  }
  if (wrong.length > 0) process.exitCode = 1
  return [
    `- The recorded streams of \`llmz\`: of ${streams.length}, ${streams.length - wrong.length} reach the published client with the ` +
      `same text, reason and usage, in ${chunks} chunks.`,
    ...wrong,
  ]
}

/** Reads a stream to its end. */
async function read(client: CognitiveBeta, input: Input): Promise<{ chunks: number; end: object }> {
  const end = { text: '' }
  let chunks = 0
  for await (const { output, metadata } of client.generateTextStream(input)) {
    chunks += 1
    end.text += output ?? ''
    if (!metadata) continue
    const { stopReason, usage } = metadata
    Object.assign(end, { stopReason, input: usage.inputTokens, output: usage.outputTokens })
  }
  return { chunks, end }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
