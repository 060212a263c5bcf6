/**
 * The options that a caller gives, as Web IDL reads a dictionary: none are an empty one.
 *
 * @throws TypeError for a value that can have none
 */
export function toOptions(options: unknown): object {
  if (options === undefined || options === null) return {}
  if (typeof options !== 'object' && typeof options !== 'function') throw new TypeError('The options must be an object')
  return options
}
