import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table bot_tables
      -- Since when rows of the table wait for computed values; absent when none does.
      add column recompute_due_at timestamptz,
      -- The event of the action that computes some of them.
      add column recompute_event_id text;
    create index tables_by_recompute on bot_tables (recompute_due_at) where recompute_due_at is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table bot_tables drop column recompute_due_at, drop column recompute_event_id')
}
