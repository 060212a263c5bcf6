import { closedObject } from '../../schema.ts'
import { pageInput, pageRequest, type PageRequest } from '../../store/pagination.ts'
import { ApiError } from '../../errors.ts'
import { logLevels, logLine, toLogLine, type DescribedLogRow } from '../../models/log-line.ts'
import { operation } from '../../rpc/operation.ts'
import type { Database } from '../../store/database.ts'
import { pageOfLogs, type LogFilter } from '../../store/logs.ts'
import { logPosition, readLogTail, type LogPosition } from '../../store/log-tail.ts'
import { findOwnBot } from './find-version.ts'

export const followBotLogs = operation({
  name: 'followBotLogs',
  description:
    'Returns the lines of a bot’s log since the previous call, whose `next` is the `after` of this call: each line once, ' +
    'from any process. The first call, without `after`, returns the last lines. Meant to be polled every second.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/logs/new',
  access: 'viewer',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'InvalidQuery'],
  input: closedObject(
    { id: { type: 'string' } },
    {
      after: { type: 'string', description: 'The `next` of the previous call.' },
      pageSize: { ...pageInput.pageSize, description: 'Lines of the first call; default: 20.' },
      level: { enum: logLevels, description: 'The minimum level of the lines.' },
      eventId: { type: 'string' },
      conversationId: { type: 'string' },
      messageContains: { type: 'string', minLength: 1, description: 'Text that the line contains; case-insensitive.' },
    },
  ),
  output: closedObject({
    logs: { type: 'array', items: logLine, description: 'The lines in the order of their storage.' },
    next: { type: 'string' },
    isCut: {
      type: 'boolean',
      description:
        'Whether older lines may be left out because of the answer’s size, or because so many lines were read; getBotLogs has them.',
    },
  }),

  async handle(context, { id, after, pageSize = defaultLines, level, eventId, conversationId, messageContains }) {
    const { db } = context
    await findOwnBot(context, id)
    const levels = level && logLevels.slice(logLevels.indexOf(level))
    const filter = { levels, eventId, conversationId, words: messageContains }
    if (after !== undefined) {
      const { rows, position, isCut } = await readLogTail(db, id, filter, { after: unpack(after), limit: maxLines })
      return { logs: rows.map(toLogLine), next: pack(position), isCut }
    }
    const position = await logPosition(db)
    // Lines stored from now on belong to the next call.
    const given = {
      timeStart: new Date(0).toISOString(),
      seenAt: position.snapshot,
      levels,
      eventId,
      conversationId,
      messageContains,
    }
    const { rows, isCut } = await lastLines(db, id, given, pageSize)
    return { logs: rows.map(toLogLine).toReversed(), next: pack(position), isCut }
  },
})

/** Pages in which the last lines are looked for, each of `maxRead` lines: some tenths of a second. */
const maxPages = 10

/** The last lines of a log, newest first. @returns also whether older lines that pass the filter may be left out */
async function lastLines(db: Database, botId: string, filter: LogFilter, most: number) {
  const rows: DescribedLogRow[] = []
  let request: PageRequest = { limit: most }
  for (let pages = 1; ; pages++) {
    const page = await pageOfLogs(db, botId, filter, request)
    rows.push(...page.rows)
    if (rows.length >= most || page.nextToken === undefined) return { rows, isCut: false }
    if (pages === maxPages) return { rows, isCut: true }
    request = pageRequest({ nextToken: page.nextToken, pageSize: most - rows.length })
  }
}

const defaultLines = 20
/** Maximum number of lines in one answer. */
const maxLines = 1000

function pack({ snapshot, id }: LogPosition): string {
  return Buffer.from(`${id} ${snapshot}`).toString('base64url')
}

function unpack(text: string): LogPosition {
  const position = Buffer.from(text, 'base64url').toString()
  const [, id, snapshot] = /^(\d{1,18}) (\d{1,18}:\d{1,18}:(?:\d{1,18}(?:,\d{1,18})*)?)$/.exec(position) ?? []
  if (snapshot === undefined || id === undefined || !isSnapshot(snapshot)) throw invalidPosition()
  return { snapshot, id }
}

/**
 * Whether PostgreSQL accepts the text: the first and the next transaction, and in order those in flight, from the first on and
 * before the next.
 */
function isSnapshot(text: string): boolean {
  const [first, next, inFlight] = text.split(':') as [string, string, string]
  const between = inFlight === '' ? [] : inFlight.split(',').map(BigInt)
  const numbers = [BigInt(first), ...between, BigInt(next)]
  const isInOrder = numbers.every((number, index) => number > 0n && number >= (numbers[index - 1] ?? 0n))
  return isInOrder && between.at(-1) !== BigInt(next)
}

function invalidPosition(): ApiError {
  return new ApiError('InvalidQuery', '`after` is not a valid cursor: omit it to start with the last lines')
}
