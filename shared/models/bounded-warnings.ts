/** Upper bound of the warnings of one kind in the answer to an upload. */
const maxWarnings = 20

/** @param rest the words for further warnings, after their number */
export function boundWarnings(warnings: string[], rest: string): string[] {
  const more = warnings.length - maxWarnings
  return more > 0 ? [...warnings.slice(0, maxWarnings), `${more} more ${rest}`] : warnings
}
