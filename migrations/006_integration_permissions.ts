import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Hosts that the workspace permits to the integration's code, in each installation.
    alter table integrations add column permissions jsonb not null default '{}';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table integrations drop column permissions')
}
