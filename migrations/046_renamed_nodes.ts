import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Nodes of earlier versions that the version has under other names, as flow/node: null for none.
    alter table bot_versions add column renamed_nodes jsonb
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table bot_versions drop column renamed_nodes')
}
