import { ApiError } from '../errors.ts'
import { megabyte } from '../units.ts'
import { digitsAt, endOfString, maxExponentDigits } from './exponents.ts'

/**
 * Maximum nesting depth of a body. V8 parses any depth, but serialises only some thousands of levels, as many as
 * PostgreSQL accepts. The sandbox accepts 1000, and events wrap the values of requests in a few more levels.
 */
const maxDepth = 500

/** Maximum of values in a body. Empty ones take twenty times their bytes: 50 MB of them would end the process. */
const maxValues = 2_000_000

/**
 * A number in a list takes 8 bytes, or 24 beside other values, and counts as this part of a value. Command lines send the code
 * of each plugin of a bot as a list of its bytes, of which there are 600,000.
 */
const numberWeight = 1 / 4

/** `"`, `,`, `[`, `{`, `]` and `}`. */
const [quote, comma, bracket, brace, closingBracket, closingBrace] = [0x22, 0x2c, 0x5b, 0x7b, 0x5d, 0x7d]

/**
 * Parses an untrusted JSON body.
 *
 * @returns an empty object for an empty text
 * @throws ApiError `InvalidPayload` when it is invalid or nested too deep, `PayloadTooLarge` when it has too many
 *   values, or too many digits
 */
export function parseBody(text: string): unknown {
  if (text === '') return {}
  assertBounded(text)
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new ApiError('InvalidPayload', `The body is not valid JSON: ${(error as Error).message}`)
  }
}

/** Scans a text for its depth and number of values, before it is parsed. */
function assertBounded(text: string): void {
  let depth = 0
  let values = 1
  let exponentDigits = 0
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index)
    if (character === quote) index = endOfString(text, index)
    else if (character === comma) values += isNumber(text.charCodeAt(index + 1)) ? numberWeight : 1
    else if (character === bracket || character === brace) {
      depth += 1
      values += 1
      assertDepth(depth)
    } else if (character === closingBracket || character === closingBrace) depth -= 1
    else exponentDigits += digitsAt(text, index, character)
  }
  if (values > maxValues) {
    throw new ApiError('PayloadTooLarge', `The body has more than ${maxValues} values, the maximum`)
  }
  if (exponentDigits > maxExponentDigits) {
    const maximum = `${maxExponentDigits / megabyte} MB, the maximum`
    throw new ApiError(
      'PayloadTooLarge',
      `The numbers of the body have more digits without exponents than ${maximum}: 1e300 has 301. Send them as texts`,
    )
  }
}

/** Whether a value that begins with this character is a number. After a comma in an object a name follows. */
function isNumber(character: number): boolean {
  return (character >= 0x30 && character <= 0x39) || character === 0x2d
}

/** @throws ApiError `InvalidPayload` when a body is nested too deep */
export function assertDepth(depth: number): void {
  if (depth > maxDepth) throw new ApiError('InvalidPayload', `The body is nested more than ${maxDepth} levels deep`)
}
