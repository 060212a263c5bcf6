import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The last event that names the workflow, other than its own updates, since it was last continued.
    alter table workflows add column heard_event_id text;
    drop index workflows_in_progress;
    create index workflows_to_continue on workflows (continues_at)
      where status = 'in_progress' or status = 'listening' and heard_event_id is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index workflows_to_continue;
    create index workflows_in_progress on workflows (continues_at) where status = 'in_progress' and continues_at is not null;
    alter table workflows drop column heard_event_id;
  `)
}
