import { pageInput, pageRequest, type PageRequest } from './pagination.ts'
import { tagsInput } from '../models/tags.ts'

/** The input fields of the runtime API's list operations, in addition to those of pagination. */
export const filterInput = {
  tags: { ...tagsInput, description: 'Only rows with all of these tags.' },
  afterDate: { type: 'string', format: 'date-time' },
  beforeDate: { type: 'string', format: 'date-time' },
} as const

export const sortInput = {
  ...pageInput,
  sortField: {
    enum: ['createdAt', 'updatedAt'],
    description: 'The time by which the list is sorted; default: createdAt.',
  },
  sortDirection: { enum: ['asc', 'desc'], description: 'Default: desc, the newest first.' },
} as const

/** The columns by which lists are ordered and filtered. */
export type TimeColumn = 'created_at' | 'updated_at'

export function toTimeColumn(field: 'createdAt' | 'updatedAt' = 'createdAt'): TimeColumn {
  return field === 'createdAt' ? 'created_at' : 'updated_at'
}

export interface SortedPageRequest extends PageRequest {
  column: TimeColumn
}

/**
 * Reads the page request of a sorted list.
 * @throws ApiError `InvalidQuery` when the token is not one of the platform's
 */
export function sortedPageRequest(input: {
  nextToken?: string
  pageSize?: number
  sortField?: 'createdAt' | 'updatedAt'
  sortDirection?: 'asc' | 'desc'
}): SortedPageRequest {
  return {
    ...pageRequest(input),
    column: toTimeColumn(input.sortField),
    ascending: input.sortDirection === 'asc',
  }
}
