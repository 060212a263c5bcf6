import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider'
import { expect, test } from 'vitest'
import type { Candidate } from '#shared/llm/choose-models.ts'
import { fromResult } from '#shared/llm/from-result.ts'

const candidate = { provider: { kind: 'compatible' }, model: 'test' } as unknown as Candidate

/** The answer of a model that calls as many tools, each with 1,000 numbers of 300 digits. */
const answer = (calls: number) =>
  fromResult(
    {
      content: Array.from({ length: calls }, (_, index) => ({
        type: 'tool-call',
        toolCallId: `call ${index}`,
        toolName: 'tool',
        input: `{"n":[${Array(1000).fill('1e300').join(',')}]}`,
      })),
      finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
      usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
      warnings: [],
    } as unknown as LanguageModelV4GenerateResult,
    candidate,
    { stops: [], estimate: 1 },
  )

test('the numbers of all calls of tools in an answer have at most 1 MB of digits together', () => {
  expect(answer(3).toolCalls).toHaveLength(3)
  expect(() => answer(4)).toThrow('The numbers of the answer have too many digits')
})
