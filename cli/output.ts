import { styleText } from 'node:util'

/** The output of a command. Results go to standard output, everything else to standard error. */
export interface Output {
  /** Whether the output is for programs: one JSON document, or a line of JSON for each item of a stream. */
  readonly isJson: boolean
  /** Prints the result of a command: the document for programs, or the text for people. */
  result(document: unknown, text: string | (() => string)): void
  /** Prints one item of a stream as it arrives: a line of JSON for programs, or the text for people. */
  item(document: unknown, text: string | (() => string)): void
  /** Prints a note for people that is not a result. With JSON output it prints nothing. */
  note(text: string): void
  /** Shows progress and elapsed time of work that takes noticeably long. */
  during<T>(doing: string | (() => string), work: Promise<T>): Promise<T>
}

const patienceMilliseconds = 400
const frameMilliseconds = 100
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

export function openOutput(isJson: boolean): Output {
  return {
    isJson,
    result(document, text) {
      write(isJson ? JSON.stringify(document, undefined, 2) : printable(words(text)))
    },
    item(document, text) {
      write(isJson ? JSON.stringify(document) : printable(words(text)))
    },
    note(text) {
      if (!isJson) process.stderr.write(`${printable(text)}\n`)
    },
    async during(doing, work) {
      const hideProgress = showProgress(doing, isJson)
      try {
        return await work
      } finally {
        hideProgress()
      }
    },
  }
}

function write(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

function words(text: string | (() => string)): string {
  return typeof text === 'string' ? text : text()
}

/** Shows an animated line at a terminal, which is erased at the end; elsewhere prints one line once. */
function showProgress(doing: string | (() => string), isJson: boolean): () => void {
  const started = Date.now()
  const isTerminal = process.stderr.isTTY
  let count = 0
  const timer = isJson
    ? undefined
    : setInterval(
        () => {
          const waited = Date.now() - started
          if (waited < patienceMilliseconds) return
          const frame = frames[count++ % frames.length]!
          if (isTerminal) process.stderr.write(`\r${frame} ${words(doing)} (${Math.round(waited / 1000)} s)\u001B[K`)
          else if (count === 1) process.stderr.write(`${words(doing)} …\n`)
        },
        isTerminal ? frameMilliseconds : patienceMilliseconds,
      )
  return () => {
    clearInterval(timer)
    if (isTerminal && count > 0) process.stderr.write('\r\u001B[K')
  }
}

type Style = Parameters<typeof styleText>[0]

/** Text with colours where standard output supports them: not in pipes, and not where NO_COLOR is set. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** Untrusted text with visible signs in place of terminal control characters. */
export function withoutControlCharacters(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, toSign)
}

/** Untrusted text in one line: its line breaks and tabs are visible signs, too. */
export function inOneLine(text: string): string {
  return withoutControlCharacters(text).replaceAll(/[\t\n]/g, toSign)
}

/** Text for a terminal with partly untrusted content: colour sequences stay, other control characters become signs. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/\u001B\[[\d;]*m|[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, (found) =>
    found.length > 1 ? found : toSign(found),
  )
}

function toSign(character: string): string {
  const code = character.charCodeAt(0)
  return code < 32 ? String.fromCharCode(0x24_00 + code) : '\uFFFD'
}

/** Rows as columns of even width, below their titles. */
export function table(titles: readonly string[], cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(inOneLine))
  // There may be more rows than a function takes parameters.
  const widths = titles.map((title, column) =>
    rows.reduce((widest, row) => Math.max(widest, row[column]!.length), title.length),
  )
  const line = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(widths[column]!))
  const heading = line(titles).map((title) => styled('bold', title))
  return [heading, ...rows.map(line)].map((cells) => cells.join('  ').trimEnd()).join('\n')
}

/** `2026-11-20T10:31:04.123Z` in the local time zone: `2026-11-20 11:31:04`. */
export function localTime(timestamp: string): string {
  const time = new Date(timestamp)
  const day = [time.getFullYear(), twoDigits(time.getMonth() + 1), twoDigits(time.getDate())].join('-')
  return `${day} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join(':')}`
}

function twoDigits(figure: number): string {
  return String(figure).padStart(2, '0')
}
