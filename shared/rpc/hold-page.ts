import type { Context } from '../context.ts'
import type { Page } from '../store/pagination.ts'
import { megabyte } from '../units.ts'

/** Answers up to this size are not counted, and so are not refused while large ones wait to be read. */
export const smallAnswerBytes = megabyte / 4

/**
 * Counts the bytes of a large page before anything further is awaited or made of its rows.
 * @throws ApiError 503 when there is no room for it
 */
export function holdPage({ holdAnswer }: Pick<Context, 'holdAnswer'>, { bytes = 0 }: Page<unknown>): void {
  if (bytes > smallAnswerBytes) holdAnswer?.(bytes)
}
