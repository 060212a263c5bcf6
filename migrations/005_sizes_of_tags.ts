import type { Knex } from 'knex'

/**
 * Tags and properties grow with every change, and events are handled with those of all that they are about. The most
 * that a request can give at once fits, in bytes: what is scheduled with tags must not fail when its time comes.
 */
const sizes: [table: string, column: string][] = [
  ['users', 'tags'],
  ['users', 'properties'],
  ['conversations', 'tags'],
  ['conversations', 'properties'],
  ['messages', 'tags'],
  ['workflows', 'tags'],
]

export async function up(knex: Knex): Promise<void> {
  for (const [table, column] of sizes) {
    // Rows that are there already are not read: that would lock the table for as long.
    await knex.raw(
      `alter table ${table} add constraint ${table}_${column}_size check (pg_column_size(${column}) <= 400000) not valid`,
    )
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const [table, column] of sizes) await knex.raw(`alter table ${table} drop constraint ${table}_${column}_size`)
}
