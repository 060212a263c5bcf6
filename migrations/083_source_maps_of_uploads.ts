import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The source map as it was uploaded with the code, with which a version is deployed to other bots; null for code without
    -- one, and for bundles from before this column.
    alter table bundles add column given_map text;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table bundles drop column given_map')
}
