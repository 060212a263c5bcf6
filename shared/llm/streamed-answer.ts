import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { tokensOfText } from './estimate.ts'
import { AnswerTooLongError, maxAnswerBytes } from './guarded-fetch.ts'
import { toStorable } from '../models/storable.ts'

/** A piece of an answer, as a model writes it. */
export interface Piece {
  output: string
  reasoning?: string
}

/** A provider ended its stream without its end, or within an answer. */
export class BrokenStreamError extends Error {
  override name = 'BrokenStreamError'
}

/** The memory of a part of the answer, and of a call of a tool, beside their texts. */
const [bytesOfPart, bytesOfCall] = [20, 100]

/**
 * Collects the stream of one answer. Pieces hold back the characters at the end of the text that may begin a stop sequence,
 * or a character of which the second half is still missing.
 */
export class StreamedAnswer {
  readonly #stops: readonly string[]
  readonly #delivered: string[] = []
  /** The text that is held back: short, so that each delta costs the same. */
  #held = ''
  #isStopped = false
  #toolInput = ''
  #reasoning = ''
  #halfOfReasoning = ''
  #bytes = 0
  #rest: LanguageModelV4GenerateResult['content'] = []
  #warnings: LanguageModelV4GenerateResult['warnings'] = []
  #finish: Pick<LanguageModelV4GenerateResult, 'finishReason' | 'usage'> | undefined

  /** @param stops the sequences before the first of which the answer ends */
  constructor(stops: readonly string[]) {
    this.#stops = stops
  }

  /** Whether nothing that follows belongs to the answer. */
  get isOver(): boolean {
    return this.#finish !== undefined || this.#isStopped
  }

  /** An estimate of the tokens that the model has written so far. */
  get tokens(): number {
    return tokensOfText(this.#text + this.#reasoning + this.#toolInput)
  }

  /**
   * Takes the next part of the stream.
   *
   * @returns the text that is certain now, if any
   * @throws BrokenStreamError when the provider ends the answer with an error, AnswerTooLongError when it is too long to be held
   */
  add(part: LanguageModelV4StreamPart): Piece | undefined {
    switch (part.type) {
      case 'text-delta':
        return this.#addText(part.delta)
      case 'reasoning-delta':
        return this.#addReasoning(part.delta)
      case 'tool-input-start':
        this.#hold(part.toolName, bytesOfCall)
        return undefined
      case 'tool-input-delta':
        this.#hold(part.delta)
        this.#toolInput += part.delta
        return undefined
      case 'tool-call':
        this.#hold(part.toolName)
        this.#rest.push(part)
        return undefined
      case 'stream-start':
        this.#warnings.push(...part.warnings)
        return undefined
      case 'error':
        throw new BrokenStreamError(part.error instanceof Error ? part.error.message : 'The provider sent an error', {
          cause: part.error,
        })
      case 'finish':
        // Libraries end a stream that was cut with a reason of their own, without one of the provider.
        if (part.finishReason.raw === undefined) throw new BrokenStreamError('The stream has no end')
        this.#finish = part
        return this.#take(this.#held.length)
      default:
        return undefined
    }
  }

  /**
   * The answer in the form of one that came whole.
   *
   * @throws BrokenStreamError when the stream had no end
   */
  result(): LanguageModelV4GenerateResult {
    if (!this.#finish && !this.#isStopped) throw new BrokenStreamError('The stream has no end')
    const unknown = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
    const unknownOutput = { total: undefined, text: undefined, reasoning: undefined }
    const stopped = {
      finishReason: { unified: 'stop', raw: undefined },
      usage: { inputTokens: unknown, outputTokens: unknownOutput },
    } as const
    return {
      content: [
        ...(this.#reasoning === '' ? [] : [{ type: 'reasoning', text: this.#reasoning } as const]),
        { type: 'text', text: this.#text },
        ...this.#rest,
      ],
      warnings: this.#warnings,
      ...(this.#isStopped ? stopped : this.#finish!),
    }
  }

  #hold(text: string, further = bytesOfPart): void {
    this.#bytes += Buffer.byteLength(text) + further
    if (this.#bytes > maxAnswerBytes) throw new AnswerTooLongError(`The answer has more than ${maxAnswerBytes} bytes`)
  }

  get #text(): string {
    return this.#delivered.join('') + this.#held
  }

  #addText(delta: string): Piece | undefined {
    this.#hold(delta)
    // A sequence that begins earlier would have been held back.
    this.#held += delta
    const found = this.#stops.map((stop) => this.#held.indexOf(stop)).filter((position) => position !== -1)
    if (found.length > 0) {
      this.#isStopped = true
      return this.#take(Math.min(...found))
    }
    return this.#take(this.#held.length - this.#uncertain())
  }

  #addReasoning(delta: string): Piece | undefined {
    this.#hold(delta)
    this.#reasoning += delta
    const whole = this.#halfOfReasoning + delta
    const isHalf = endsWithHalf(whole)
    this.#halfOfReasoning = isHalf ? whole.slice(-1) : ''
    const reasoning = isHalf ? whole.slice(0, -1) : whole
    return reasoning === '' ? undefined : { output: '', reasoning: toStorable(reasoning) }
  }

  get #longestStop(): number {
    return this.#stops.reduce((longest, { length }) => Math.max(longest, length), 0)
  }

  /** The number of characters at the end that may be the start of a stop sequence, or half of a character. */
  #uncertain(): number {
    const tail = this.#held
    for (let length = Math.min(tail.length, this.#longestStop - 1); length > 0; length--) {
      const end = tail.slice(-length)
      if (this.#stops.some((stop) => stop.startsWith(end))) return length
    }
    return endsWithHalf(tail) ? 1 : 0
  }

  #take(end: number): Piece | undefined {
    const output = this.#held.slice(0, end)
    if (output === '') return undefined
    this.#held = this.#held.slice(end)
    this.#delivered.push(output)
    return { output: toStorable(output) }
  }
}

/** Whether a text ends within a surrogate pair. */
function endsWithHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff
}
