import { format as formatValues } from '../isolate/format.ts'
import { inspect, inspectWith } from '../isolate/inspect/inspect.ts'
import { codedError } from '../prelude/node-errors.ts'

export { inspect }

/** Node's `util.format`. */
export function format(...values: unknown[]): string {
  return formatValues(values, (value, overrides) => inspectWith(value, undefined, overrides ?? {}))
}

/** Node's `util.formatWithOptions`. */
export function formatWithOptions(options: unknown, ...values: unknown[]): string {
  if (typeof options !== 'object' || options === null) {
    throw codedError('ERR_INVALID_ARG_TYPE', 'The "inspectOptions" argument must be of type object', TypeError)
  }
  return formatValues(values, (value, overrides) => inspectWith(value, options, overrides ?? {}))
}
