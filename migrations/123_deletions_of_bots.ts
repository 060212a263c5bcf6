import type { Knex } from 'knex'

/** A bot whose rows are being deleted, in many transactions, stays in its workspace until the last one. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table bots add column deletion_began_at timestamptz')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table bots drop column deletion_began_at')
}
