import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- How the last runs of an event went, oldest first; written with its end. It must be no index’s: ends are many.
    alter table events add column runs jsonb;

    -- Of an installation that gets many events, the few that tell how register() went.
    create index events_registrations on events (installation_id, created_at desc, id desc)
      where type in ('register', 'unregister');

    -- The outcomes of each bot’s events, by minutes and by quarters of an hour: workers count, and add what they counted
    -- every few seconds. No foreign key: counts of a bot that is being deleted must not keep those of others from being
    -- added.
    create table bot_activity (
      bot_id text not null,
      seconds integer not null check (seconds in (60, 900)),
      -- The begin of the period of so many seconds.
      at timestamptz(0) not null,
      processed integer not null,
      failed integer not null,
      ignored integer not null,
      -- Runs that failed and are tried again.
      retried integer not null,
      -- Wake-ups that had to wait since the bot had its share of a worker.
      put_back integer not null,
      -- How many events took how long, and waited how long: counts by the durations’ steps (shared/telemetry/latency-histogram.ts).
      handling jsonb not null,
      waiting jsonb not null,
      primary key (bot_id, seconds, at)
    ) with (fillfactor = 50);
    create index bot_activity_by_age on bot_activity (seconds, at);

    -- The workers that are there, as they tell every few seconds. After a crash of the database they tell it anew.
    create unlogged table workers (
      id text primary key,
      host text not null,
      started_at timestamptz(3) not null default now(),
      seen_at timestamptz(3) not null default now(),
      slots integer not null,
      in_use integer not null
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table workers;
    drop table bot_activity;
    drop index events_registrations;
    alter table events drop column runs;
  `)
}
