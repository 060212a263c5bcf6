import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What the workspace lets the integration's code reach, wherever it is installed.
    alter table integrations add column permissions jsonb not null default '{}';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table integrations drop column permissions')
}
