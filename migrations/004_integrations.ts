import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Integrations, and where they are installed -----------------------------------------------------------------

    create table integrations (
      -- Of one version: that is what clients call an integration's id.
      id text primary key,
      workspace_id text not null references workspaces on delete cascade,
      name text not null,
      version text not null,
      -- Its whole declaration, as the Admin API shows it.
      definition jsonb not null,
      -- One ES module of ours, or a CommonJS bundle of the public SDK.
      kind text not null check (kind in ('native', 'sdk')),
      -- Names the code for ever: other code has another one.
      code_id text not null unique,
      hash text not null,
      source text not null,
      script text not null,
      source_map text not null,
      -- By name, encrypted.
      secrets text,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      unique (workspace_id, name, version)
    );
    create index integrations_by_age on integrations (workspace_id, created_at desc, id desc);

    alter table installations
      -- Null for the chat, which is part of the platform.
      add column integration_id text references integrations,
      add column enabled boolean not null default true,
      add column configuration_type text,
      add column disabled_channels text[] not null default '{}',
      add column status text not null default 'registered' check (status in (
        'registration_pending', 'registered', 'registration_failed',
        'unregistration_pending', 'unregistered', 'unregistration_failed'
      )),
      add column status_reason text,
      add column identifier text,
      add column sandbox_identifiers jsonb,
      -- How often register() is called, and from when on the periods are counted.
      add column schedule text check (schedule in (
        'hourly', 'daily', 'weekly', 'bi-weekly', 'monthly', 'bi-monthly', 'quarterly', 'yearly'
      )),
      add column schedule_from timestamptz(3),
      -- When register() is called next; null, where there is a schedule, until a worker has worked it out.
      add column next_register_at timestamptz(3),
      -- How often register() has failed since it last succeeded.
      add column register_failures integer not null default 0,
      add check ((schedule is null) = (schedule_from is null) and (schedule is not null or next_register_at is null));
    create index installations_by_integration on installations (integration_id);
    create index installations_to_register on installations (schedule, next_register_at) where schedule is not null;
    create unique index installations_by_identifier on installations (integration_id, identifier);

    alter table tokens
      add column integration_id text references integrations on delete cascade,
      drop constraint tokens_kind_check,
      add constraint tokens_kind_check check (kind in ('personal', 'bot', 'integration')),
      add check ((kind = 'integration') = (integration_id is not null));
    create index tokens_by_integration on tokens (integration_id);

    -- Declarations of bots made with the public SDK --------------------------------------------------------------

    alter table bots
      -- Its tags, states, events, actions, configuration, subscriptions, as the Admin API shows them.
      add column definition jsonb not null default '{}',
      -- By name, encrypted.
      add column secrets text;
    alter table inspections
      add column kind text not null default 'native' check (kind in ('native', 'sdk'));
    alter table bot_versions
      add column kind text not null default 'native' check (kind in ('native', 'sdk'));

    create table recurring_events (
      bot_id text not null references bots on delete cascade,
      name text not null,
      type text not null,
      payload jsonb not null,
      cron text not null,
      next_at timestamptz(3) not null,
      -- Of the firings before the last; how that one ended, its event tells.
      failed_attempts integer not null default 0,
      last_failure_reason text,
      last_event_id text,
      primary key (bot_id, name)
    );
    create index recurring_events_due on recurring_events (next_at);

    -- Other events -----------------------------------------------------------------------------------------------

    create table workflows (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      name text not null,
      status text not null check (status in (
        'pending', 'in_progress', 'failed', 'completed', 'listening', 'paused', 'timedout', 'cancelled'
      )),
      input jsonb not null default '{}',
      output jsonb not null default '{}',
      tags jsonb not null default '{}',
      parent_id text references workflows on delete cascade,
      conversation_id text,
      user_id text,
      failure_reason text,
      timeout_at timestamptz(3) not null,
      completed_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      unique (bot_id, id),
      foreign key (bot_id, conversation_id) references conversations (bot_id, id) on delete cascade
    );
    create index workflows_by_bot on workflows (bot_id, created_at desc, id desc);
    create index workflows_by_name on workflows (bot_id, name, created_at desc, id desc);
    create index workflows_by_conversation on workflows (conversation_id);
    create index workflows_by_parent on workflows (parent_id);
    create index workflows_to_time_out on workflows (timeout_at) where completed_at is null;

    alter table events
      -- Whose code handles it: an integration's, as it is installed here; null for the bot's own.
      add column installation_id text,
      add column workflow_id text,
      add foreign key (bot_id, installation_id) references installations (bot_id, id) on delete cascade,
      drop constraint events_status_check,
      add constraint events_status_check check (status in (
        'scheduled', 'canceled', 'pending', 'processed', 'ignored', 'failed'
      ));
    create index events_by_installation on events (installation_id);
    create index events_scheduled on events (available_at) where status = 'scheduled';

    alter table messages
      add column origin text check (origin in ('synthetic'));
    create index messages_by_bot on messages (bot_id, created_at desc, id desc);
    create index users_by_bot on users (bot_id, created_at desc, id desc);
    create index conversations_by_bot on conversations (bot_id, created_at desc, id desc);
    -- State that a bot and its integrations share.
    alter table users add column properties jsonb not null default '{}';
    alter table conversations add column properties jsonb not null default '{}';
    -- Integrations find them by their tags. Most messages have none, and cost nothing here.
    create index users_by_tags on users using gin (tags jsonb_path_ops) where tags <> '{}';
    create index conversations_by_tags on conversations using gin (tags jsonb_path_ops) where tags <> '{}';
    create index messages_by_tags on messages using gin (tags jsonb_path_ops) where tags <> '{}';

    alter table states
      -- The installed integration whose own it is; null for the bot's. The names of one do not meet the other's.
      add column installation_id text,
      add foreign key (bot_id, installation_id) references installations (bot_id, id) on delete cascade,
      drop constraint states_bot_id_type_owner_id_name_key,
      add constraint states_by_name unique nulls not distinct (bot_id, type, owner_id, name, installation_id),
      drop constraint states_type_check,
      add constraint states_type_check check (type in ('bot', 'user', 'conversation', 'workflow', 'integration'));
    create index states_by_installation on states (installation_id);
    create index states_to_expire on states (expires_at) where expires_at is not null;

    create table analytics (
      bot_id text not null references bots on delete cascade,
      name text not null,
      -- In UTC.
      day date not null,
      count bigint not null,
      primary key (bot_id, name, day)
    );

    -- The body of a request to an integration's webhook, in parts, so that the api never holds one whole. It is here
    -- before its event, which may be handled as soon as it is there.
    create table webhook_bodies (
      event_id text not null,
      part integer not null,
      bytes bytea not null,
      created_at timestamptz(3) not null default now(),
      primary key (event_id, part)
    );
    create index webhook_bodies_by_age on webhook_bodies (created_at);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table webhook_bodies, analytics, workflows, recurring_events;
    drop index states_to_expire, messages_by_bot, users_by_bot, conversations_by_bot, users_by_tags,
      conversations_by_tags, messages_by_tags;
    alter table users drop column properties;
    alter table conversations drop column properties;
    delete from states where type in ('workflow', 'integration') or installation_id is not null;
    alter table states
      drop constraint states_by_name,
      drop column installation_id,
      add constraint states_bot_id_type_owner_id_name_key unique (bot_id, type, owner_id, name),
      drop constraint states_type_check,
      add constraint states_type_check check (type in ('bot', 'user', 'conversation'));
    alter table messages drop column origin;
    delete from events where status in ('scheduled', 'canceled') or installation_id is not null;
    alter table events
      drop constraint events_status_check,
      add constraint events_status_check check (status in ('pending', 'processed', 'ignored', 'failed')),
      drop column installation_id,
      drop column workflow_id;
    alter table bot_versions drop column kind;
    alter table inspections drop column kind;
    alter table bots drop column definition, drop column secrets;
    delete from tokens where kind = 'integration';
    alter table tokens
      drop constraint tokens_kind_check,
      drop column integration_id,
      add constraint tokens_kind_check check (kind in ('personal', 'bot'));
    delete from installations where integration_id is not null;
    alter table installations
      drop column integration_id,
      drop column enabled,
      drop column configuration_type,
      drop column disabled_channels,
      drop column status,
      drop column status_reason,
      drop column identifier,
      drop column sandbox_identifiers,
      drop column schedule,
      drop column schedule_from,
      drop column next_register_at,
      drop column register_failures;
    drop table integrations;
  `)
}
