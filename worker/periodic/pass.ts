import type { Database } from '#shared/store/database.ts'

/**
 * One pass over one kind of rows, in a transaction. Resolves to whether another pass would find more.
 *
 * @param count adds deleted rows to the metrics once they are committed
 */
export type Pass = (transaction: Database, count: (kind: string, number: number) => void) => Promise<boolean>
