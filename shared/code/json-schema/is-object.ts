/** Whether data is an object of JSON, be it a schema or what is validated. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
