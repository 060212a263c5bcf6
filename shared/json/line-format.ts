/** How the lines of an answer are written. */
export interface LineFormat {
  contentType: string
  /** The text of one line, with what separates it from the next. */
  write(line: unknown): string
  /** The text after the last line. */
  end?: string
}

/** One JSON text a line. */
export const newlineDelimited: LineFormat = {
  contentType: 'application/x-ndjson',
  write: (line) => `${JSON.stringify(line)}\n`,
}
