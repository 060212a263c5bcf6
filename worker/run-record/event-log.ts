import type { Limits, LogLine } from '#sandbox/protocol/contract.ts'

/** A line of a run's log, with the integration whose code wrote it, if it was one. */
export type WrittenLine = LogLine & { integrationId?: string }

/** The log of all runs of one event, in the order of writing. */
export interface EventLog {
  readonly lines: WrittenLine[]
  /** Adds a line; a full log drops it. */
  write(line: WrittenLine): void
}

/** Each run limits its own lines; this limits those of all runs of the event together, nested actions included. */
export function openEventLog({ logLines, logCharacters }: Pick<Limits, 'logLines' | 'logCharacters'>): EventLog {
  const lines: WrittenLine[] = []
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
