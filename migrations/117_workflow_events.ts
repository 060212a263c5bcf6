import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The event in whose handling the workflow is in progress, and the time from which it may be continued; null for those of
    -- before these columns.
    alter table workflows add column event_id text, add column continues_at timestamptz;
    create index workflows_in_progress on workflows (continues_at) where status = 'in_progress' and continues_at is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'drop index workflows_in_progress; alter table workflows drop column event_id, drop column continues_at',
  )
}
