import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table workspaces
      -- The prefix of the names of its integrations; of this platform's workspaces only one has it.
      add column handle text unique,
      -- Its public profile.
      add column profile jsonb not null default '{}';

    alter table accounts
      -- In lower case. The account that a platform begins with has none.
      add column email text unique,
      add column picture_url text;

    alter table bot_versions
      add column name text,
      add column description text;

    -- Changes, with their author and time. No foreign keys: a record outlives what it tells of.
    create table audit_records (
      id text primary key,
      -- Null where somebody changed what is their own.
      workspace_id text,
      account_id text not null,
      -- As it was then.
      account_email text,
      operation text not null,
      -- The names of the fields that were given; values only of those that say who or which.
      fields text not null,
      resource_id text,
      resource_name text,
      -- Unknown while it is under way, and for ever when the process died or something failed half-way.
      outcome text not null default 'unknown' check (outcome in ('unknown', 'done')),
      created_at timestamptz(3) not null default clock_timestamp()
    );
    create index audit_records_by_workspace on audit_records (workspace_id, created_at desc, id desc);
    create index audit_records_by_account on audit_records (account_id, created_at desc, id desc)
      where workspace_id is null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table audit_records;
    alter table bot_versions drop column name, drop column description;
    alter table accounts drop column email, drop column picture_url;
    alter table workspaces drop column handle, drop column profile;
  `)
}
