import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Bundles read secrets while they load. Encrypted, and deleted with the row.
    alter table inspections add column secrets text
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table inspections drop column secrets')
}
