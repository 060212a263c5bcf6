const form = /^\d{4}-\d\d(-\d\d)?([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/i

/** A time as rows hold it, in UTC with milliseconds, so that its text has the order of times; undefined for any other value. */
export function toTime(value: unknown): string | undefined {
  if (typeof value !== 'string' || !form.test(value)) return undefined
  // A text with a time but without a zone would be read in the zone of the machine.
  const zoned = /[T ]\d\d:\d\d(:[\d.]+)?$/i.test(value) ? `${value}Z` : value
  const time = new Date(zoned)
  if (Number.isNaN(time.getTime())) return undefined
  const year = time.getUTCFullYear()
  return year < 0 || year > 9999 ? undefined : time.toISOString()
}
