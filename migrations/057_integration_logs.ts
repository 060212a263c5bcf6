import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The integration whose code wrote a line. It may be deleted while the line is kept.
    alter table logs add column integration_id text;
    create index logs_by_integration on logs (integration_id, bot_id, created_at desc, id desc)
      where integration_id is not null;

    -- What programs store for an account or a workspace.
    create table preferences (
      account_id text references accounts on delete cascade,
      workspace_id text references workspaces on delete cascade,
      key text not null,
      value jsonb not null,
      updated_at timestamp(3) with time zone not null default now(),
      unique nulls not distinct (account_id, workspace_id, key),
      check ((account_id is null) <> (workspace_id is null))
    );
    create index preferences_by_workspace on preferences (workspace_id) where workspace_id is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index logs_by_integration;
    alter table logs drop column integration_id;
    drop table preferences;
  `)
}
