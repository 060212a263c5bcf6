import { runInNewContext } from 'node:vm'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { ApiError } from './errors.ts'
import { describeErrors } from './schema.ts'

/** In characters of its JSON. Compiling is not in proportion: such a one takes half a second, in which nothing else happens. */
const longestSchema = 100_000

/** A pattern can be such that some texts take it for ever. */
const longestValidationMilliseconds = 1000

/**
 * Compiles a JSON Schema that a developer sent. Keywords and formats that are not known are passed over: published tools
 * add their own.
 *
 * @param name where it stands in the request
 * @throws ApiError `InvalidJsonSchema`, or `LimitExceeded` when it is too long
 */
export function compileForeign(schema: Record<string, unknown>, name: string): ValidateFunction {
  if (JSON.stringify(schema).length > longestSchema) {
    throw new ApiError('LimitExceeded', `${name} is longer than ${longestSchema} characters: shorten it`)
  }
  // One for each schema: it would keep them for good, and refuse a second one with the same `$id`. To make its code
  // smaller takes three times as long as all the rest.
  const ajv = new Ajv({ strict: false, logger: false, useDefaults: true, verbose: true, code: { optimize: false } })
  addFormats.default(ajv)
  const { $schema: _dialect, ...rest } = schema
  try {
    return ajv.compile({ ...rest, $async: false })
  } catch (error) {
    throw new ApiError('InvalidJsonSchema', `${name}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/**
 * Validates data by a developer's schema, and fills in the defaults that it declares.
 *
 * @param name where the data stands in the request
 * @returns the data with its defaults
 * @throws ApiError `InvalidDataFormat` when it is not as the schema says or takes too long to check, `InvalidJsonSchema`
 *   when the schema is none
 */
export function validateForeign<Data extends object>(schema: Record<string, unknown>, data: Data, name: string): Data {
  const isValid = compileForeign(schema, `the schema of ${name}`)
  const completed = structuredClone(data)
  if (inTime(() => isValid(completed), name)) return completed
  throw new ApiError('InvalidDataFormat', `${name}: ${describeErrors(isValid)}`)
}

/**
 * Runs a check of the platform's own with a developer's patterns; the context is for the time limit alone.
 *
 * @throws ApiError `InvalidDataFormat` when it takes longer than so many milliseconds
 */
export function inTime(check: () => boolean, name: string, timeout = longestValidationMilliseconds): boolean {
  try {
    return runInNewContext('check()', { check }, { timeout }) as boolean
  } catch (error) {
    if (!(Error.isError(error) && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')) throw error
    throw new ApiError('InvalidDataFormat', `${name} takes too long to validate: simplify the patterns of its schema`)
  }
}
