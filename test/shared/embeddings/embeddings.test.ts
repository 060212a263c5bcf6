import { describe, expect, test } from 'vitest'
import { readAnswer } from '#shared/embeddings/embeddings.ts'

const answer = (...embeddings: unknown[]) =>
  JSON.stringify({ data: embeddings.map((embedding, index) => ({ index, embedding })) })

describe('the answer of an endpoint of embeddings', () => {
  test('is read by the numbers of its texts, with vectors of length 1', () => {
    const data = [
      { index: 1, embedding: [0, 5] },
      { index: 0, embedding: [3, 4] },
    ]
    const [first, second] = readAnswer(JSON.stringify({ data }), 2).vectors
    expect(first![0]).toBeCloseTo(0.6)
    expect(first![1]).toBeCloseTo(0.8)
    expect([...second!]).toEqual([0, 1])
  })

  test.each([
    [{ total_tokens: 12 }, 12],
    [{ total_tokens: -1 }, 0],
    [{ total_tokens: '12' }, 0],
    [{ total_tokens: 1e300 }, 0],
    // A text of 8,000 bytes has no more.
    [{ total_tokens: 8001 }, 8001],
    [{ total_tokens: 9e15 }, 0],
    [{ total_tokens: 1.5 }, 0],
    [null, 0],
    [undefined, 0],
  ])('has a number of tokens: %j', (usage, tokens) => {
    expect(readAnswer(JSON.stringify({ data: [{ embedding: [1] }], usage }), 1).tokens).toBe(tokens)
  })

  test.each([
    ['is no JSON', 'no', /no JSON/],
    ['has no list', '{"data":{"length":1}}', /not 1 vectors/],
    ['is null', 'null', /not 1 vectors/],
    ['has too many vectors', answer([1], [2]), /not 1 vectors/],
    ['has a number that is no text’s', '{"data":[{"index":7,"embedding":[1]}]}', /wrongly/],
    ['has a number that is no number', '{"data":[{"index":"length","embedding":[1]}]}', /wrongly/],
    ['has something else than a vector', answer('text'), /without 1 to 4096 numbers/],
    ['has an empty vector', answer([]), /without 1 to 4096 numbers/],
    ['has a vector that is too long', answer(Array.from({ length: 4097 }, () => 1)), /without 1 to 4096 numbers/],
    ['has texts in a vector', answer(['1']), /something else than numbers/],
    ['has null in a vector', answer([1, null]), /something else than numbers/],
    ['has only zeros', answer([0, 0]), /without a direction/],
    ['has numbers beyond all bounds', '{"data":[{"index":0,"embedding":[1e999]}]}', /without a direction/],
  ])('is refused when it %s', (_, text, message) => {
    expect(() => readAnswer(text, 1)).toThrow(message)
  })

  test('is refused when its vectors are of different lengths, or of another one than requested', () => {
    expect(() => readAnswer(answer([1], [1, 2]), 2)).toThrow(/another length than 1/)
    expect(() => readAnswer(answer([1], [1]), 2, 512)).toThrow(/another length than 512/)
    expect(() => readAnswer('{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}', 2)).toThrow(/wrongly/)
  })
})
