import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The address of code that runs on its author's machine, of bots and integrations under development.
    alter table bots add column url text;
    alter table integrations add column url text;

    -- An integration under development may have the name and version of a deployed one.
    alter table integrations drop constraint integrations_workspace_id_name_version_key;
    create unique index integrations_by_version on integrations (workspace_id, name, version) where url is null;

    -- The open tunnels, each with the connection that holds it now.
    create unlogged table tunnels (
      workspace_id text not null references workspaces on delete cascade,
      id text not null,
      account_id text not null references accounts on delete cascade,
      holder text not null unique,
      seen_at timestamp(3) with time zone not null default now(),
      primary key (workspace_id, id)
    );
    create index tunnels_by_account on tunnels (account_id);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table tunnels;
    delete from integrations where url is not null;
    drop index integrations_by_version;
    alter table integrations
      add constraint integrations_workspace_id_name_version_key unique (workspace_id, name, version);
    alter table integrations drop column url;
    alter table bots drop column url;
  `)
}
