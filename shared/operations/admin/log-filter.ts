import { ApiError } from '../../errors.ts'
import { logLevels } from '../../models/log-line.ts'
import { pageInput, pageRequest, type PageRequest } from '../../store/pagination.ts'

/** The fields of the input that select lines of a log, beside `timeStart`. */
export const logFilter = {
  ...pageInput,
  timeEnd: { type: 'string', format: 'date-time' },
  level: { enum: logLevels },
  eventId: { type: 'string' },
  conversationId: { type: 'string' },
  userId: { type: 'string', description: 'Only lines of events of this user.' },
  workflowId: { type: 'string' },
  messageContains: { type: 'string', minLength: 1, description: 'Text that the line contains; case-insensitive.' },
  sortDirection: { enum: ['asc', 'desc'], description: 'Default: desc, the newest lines first.' },
} as const

/** @throws ApiError `InvalidQuery` when the token of the page is not one of a log */
export function logRequest(input: {
  nextToken?: string
  pageSize?: number
  sortDirection?: 'asc' | 'desc'
}): PageRequest {
  const request = { ...pageRequest(input), ascending: input.sortDirection === 'asc' }
  if (!request.after || /^\d{1,18}$/.test(request.after.id)) return request
  throw new ApiError('InvalidQuery', 'nextToken is not a valid cursor of this log: omit it to start at the first page')
}
