import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The event in whose handling the workflow is in progress; null for those of before this column.
    alter table workflows add column event_id text;
    create index workflows_in_progress on workflows (event_id) where status = 'in_progress' and event_id is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index workflows_in_progress; alter table workflows drop column event_id')
}
