import type { Limits, LogLine } from '#sandbox/protocol/contract.ts'

/** The log of everything that runs for one event, in the order in which it was written. */
export interface EventLog {
  readonly lines: LogLine[]
  /** Takes a line; once the log is full, none any more. */
  write(line: LogLine): void
}

/** Each run counts its own lines; here those of all of them count together, the actions that they call included. */
export function openEventLog({ logLines, logCharacters }: Pick<Limits, 'logLines' | 'logCharacters'>): EventLog {
  const lines: LogLine[] = []
  let characters = 0
  let isCut = false
  return {
    lines,
    write(line) {
      if (isCut) return
      characters += line.message.length
      isCut = lines.length >= logLines || characters > logCharacters
      lines.push(isCut ? cutMark(line, logLines, logCharacters) : line)
    },
  }
}

function cutMark({ timestamp }: LogLine, logLines: number, logCharacters: number): LogLine {
  const message = `logs: The log is truncated here: an event may log ${logLines} lines and ${logCharacters} characters`
  return { timestamp, level: 'warn', message }
}
