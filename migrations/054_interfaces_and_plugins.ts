import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- One version of an interface: declarations that integrations implement and plugins depend on.
    create table interfaces (
      id text primary key,
      workspace_id text not null references workspaces on delete cascade,
      name text not null,
      version text not null,
      visibility text not null,
      definition jsonb not null,
      created_at timestamp(3) with time zone not null default now(),
      updated_at timestamp(3) with time zone not null default now(),
      unique (workspace_id, name, version)
    );
    create index interfaces_by_time on interfaces (workspace_id, created_at, id);
    create index interfaces_by_public_name on interfaces (name) where visibility <> 'private';
    create index interfaces_by_public_time on interfaces (created_at, id) where visibility = 'public';

    -- One version of a plugin. Its code becomes part of the bundles of bots; the platform only stores it.
    create table plugins (
      id text primary key,
      workspace_id text not null references workspaces on delete cascade,
      name text not null,
      version text not null,
      visibility text not null,
      definition jsonb not null,
      node_code text not null,
      browser_code text not null,
      created_at timestamp(3) with time zone not null default now(),
      updated_at timestamp(3) with time zone not null default now(),
      unique (workspace_id, name, version)
    );
    create index plugins_by_time on plugins (workspace_id, created_at, id);
    create index plugins_by_public_name on plugins (name) where visibility <> 'private';
    create index plugins_by_public_time on plugins (created_at, id) where visibility = 'public';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table interfaces, plugins')
}
