import { fullFormats } from 'ajv-formats/dist/formats.js'
import { BudgetExceededError, type Budget } from './budget.ts'

/** Whether data matches a format; data of types that the format does not concern always does. */
type Format = (data: unknown, budget: Budget) => boolean

/** Formats whose time grows with the square of a text's length; that of the others grows with the length. */
const quadratic = new Set(['url'])

export const formats = new Map<string, Format>(
  Object.entries(fullFormats).flatMap(([name, format]) => {
    if (typeof format === 'boolean') return []
    const [type, test] = toTest(format)
    const check: Format = (data, budget) => {
      if (typeof data !== type) return true
      if (typeof data === 'string') budget.spend(quadratic.has(name) ? data.length ** 2 : data.length)
      return tested(test, data, name)
    }
    return [[name, check]]
  }),
)

type Test = (data: unknown) => boolean

function toTest(format: Exclude<(typeof fullFormats)[keyof typeof fullFormats], boolean>): [type: string, test: Test] {
  if (format instanceof RegExp) return ['string', (data) => format.test(data as string)]
  if (typeof format === 'function') return ['string', format as Test]
  const { type = 'string', validate } = format as { type?: string; validate: RegExp | Test }
  return [type, validate instanceof RegExp ? (data) => validate.test(data as string) : validate]
}

function tested(test: Test, data: unknown, name: string): boolean {
  try {
    return test(data)
  } catch (cause) {
    // A long text can exceed the capacity of built-in regular expressions.
    throw new BudgetExceededError(`a string is too long for the format ${name}`, { cause })
  }
}
