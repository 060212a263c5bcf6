import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table bot_versions
      -- The flows as JSON text; null when the version has none.
      add column flows text,
      -- Whether the code exports them; otherwise they were uploaded beside it.
      add column has_flows_in_code boolean not null default false,
      -- The positions of nodes in the picture of the flows.
      add column layouts text;
    alter table inspections add column flows text, add column has_flows_in_code boolean not null default false;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'alter table bot_versions drop column flows, drop column has_flows_in_code, drop column layouts; ' +
      'alter table inspections drop column flows, drop column has_flows_in_code',
  )
}
