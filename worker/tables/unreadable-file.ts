/** Maximum of one record of a file, in characters: more than the largest row. */
export const maxRecordCharacters = 1024 * 1024

/** The file cannot be imported, because of its content. The message is for its owner. */
export class UnreadableFileError extends Error {
  override name = 'UnreadableFileError'
}
