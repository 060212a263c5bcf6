import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What a bot's code may use, where that differs from what the operator set.
    alter table bots add column limits jsonb not null default '{}';
    alter table inspections add column limits jsonb not null default '{}';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table inspections drop column limits; alter table bots drop column limits')
}
