import { closedObject } from '../../schema.ts'
import { pageInput } from '../../store/pagination.ts'
import { ApiError } from '../../errors.ts'
import { logLevels, logLine, toLogLine } from '../../models/log-line.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfLogs } from '../../store/logs.ts'
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
      description: 'Whether older lines are left out because of the answer’s size; getBotLogs has them.',
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
    const { rows } = await pageOfLogs(db, id, given, { limit: pageSize })
    return { logs: rows.map(toLogLine).toReversed(), next: pack(position), isCut: false }
  },
})

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
 * Whether PostgreSQL accepts the text: the first and the next transaction, and between them, in order, those in flight.
 */
function isSnapshot(text: string): boolean {
  const [first, next, inFlight] = text.split(':') as [string, string, string]
  const numbers = [first, ...(inFlight === '' ? [] : inFlight.split(',')), next].map(BigInt)
  return numbers.every((number, index) => number > 0n && number >= (numbers[index - 1] ?? 0n))
}

function invalidPosition(): ApiError {
  return new ApiError('InvalidQuery', '`after` is not a valid cursor: omit it to start with the last lines')
}
