/**
 * SQL for whether a line was visible at a snapshot. Rows store the last 32 bits of their transaction's id only; each
 * transaction is taken to be one of the last 2³².
 */
export function seenAt(snapshot: string): string {
  const next = 'pg_snapshot_xmax(pg_current_snapshot())::text::bigint'
  const transaction = `${next} - ((${next} - logs.xmin::text::bigint) & 4294967295)`
  return `pg_visible_in_snapshot((${transaction})::text::xid8, ${snapshot}::text::pg_snapshot)`
}
