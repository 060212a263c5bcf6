import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The reservation of a call of language models, until the call is settled or can no longer be in flight.
    create table model_reservations (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      owners text[] not null,
      day date not null,
      month date not null,
      tokens bigint not null,
      cost numeric not null,
      expires_at timestamp(3) with time zone not null
    );
    create index model_reservations_by_expiry on model_reservations (expires_at);
    create index model_reservations_by_bot on model_reservations (bot_id);

    -- For the deletion of old rows.
    create index model_usage_by_day on model_usage (day);
    create index model_failures_by_day on model_failures (day);
    create index model_spending_by_start on model_spending (start);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table model_reservations;
    drop index model_usage_by_day, model_failures_by_day, model_spending_by_start;
  `)
}
