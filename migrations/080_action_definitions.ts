import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Descriptions of the version's own actions, by name: title, description, and the JSON Schema of the input.
    alter table bot_versions add column action_definitions jsonb;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table bot_versions drop column action_definitions')
}
