import type { GenerateTextChunk, GenerateTextInput, GenerateTextOutput } from '../models/language-model.ts'
import type { LineFormat } from '../json/line-format.ts'

/** The fields that an answer in the language of another API has beside its content. */
export interface AnswerHead {
  /** The same when the event runs again. */
  id: string
  /** The model that the request names. */
  model: string
}

/**
 * The language of another API, whose libraries can then call the models of the platform. It has fewer words than that API: fields
 * that models of several providers do not have are dropped.
 */
export interface LibraryWire<Body> {
  /** @throws ApiError `InvalidPayload` when a message cannot be understood */
  toInput(body: Body): GenerateTextInput
  toAnswer(answer: GenerateTextOutput, head: AnswerHead): object
  /** Makes a function that turns the chunks of one answer into lines, called with each in order. */
  toLines(body: Body, head: AnswerHead): (chunk: GenerateTextChunk) => object[]
  lineFormat: LineFormat
}

/** A model's name in the language of a provider's API, which leaves the provider out. */
export function fullName(model: string, provider: string): string {
  return model.includes(':') || ['auto', 'fast', 'best'].includes(model) ? model : `${provider}:${model}`
}
