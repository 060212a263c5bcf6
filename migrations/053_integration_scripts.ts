import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A run of a script of an integration, from its request to its outcome.
    create table script_runs (
      id text primary key,
      integration_id text not null references integrations on delete cascade,
      script text not null,
      input jsonb not null,
      outcome jsonb,
      created_at timestamp(3) with time zone not null default now()
    );
    create index script_runs_by_integration on script_runs (integration_id);

    -- A link that begins the authorization of an installation, once.
    create table authorizations (
      token_hash bytea primary key,
      installation_id text not null references installations on delete cascade,
      bot_id text not null,
      link text not null,
      created_at timestamp(3) with time zone not null default now(),
      expires_at timestamp(3) with time zone not null
    );
    create index authorizations_by_installation on authorizations (installation_id);
    create index authorizations_by_expiry on authorizations (expires_at);

    -- An identifier is unique among the installations of all versions of an integration.
    alter table installations add column integration_workspace_id text;
    update installations set integration_workspace_id = workspace_id from integrations
     where integrations.id = integration_id;
    update installations set identifier = null
     where identifier is not null and exists (
       select from installations newer
        where newer.integration_workspace_id = installations.integration_workspace_id
          and newer.integration = installations.integration and newer.identifier = installations.identifier
          and (newer.updated_at, newer.id) > (installations.updated_at, installations.id));
    drop index installations_by_identifier;
    create unique index installations_by_identifier
      on installations (integration_workspace_id, integration, identifier) where identifier is not null;
    create index integrations_by_name on integrations (name, created_at);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table script_runs;
    drop table authorizations;
    drop index integrations_by_name;
    drop index installations_by_identifier;
    create unique index installations_by_identifier on installations (integration_id, identifier);
    alter table installations drop column integration_workspace_id;
  `)
}
