import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Limits of a bot's code, where they differ from the operator's.
    alter table bots add column limits jsonb not null default '{}';
    alter table inspections add column limits jsonb not null default '{}';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table inspections drop column limits; alter table bots drop column limits')
}
