/**
 * SQL that says whether a line could be seen at a snapshot. Rows know their transactions by the last 32 bits alone, and
 * each is one of the last four thousand millions.
 */
export function seenAt(snapshot: string): string {
  const next = 'pg_snapshot_xmax(pg_current_snapshot())::text::bigint'
  const transaction = `${next} - ((${next} - logs.xmin::text::bigint) & 4294967295)`
  return `pg_visible_in_snapshot((${transaction})::text::xid8, ${snapshot}::text::pg_snapshot)`
}
