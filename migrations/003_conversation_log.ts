import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- How many entries the conversation's log has had: a listener sees by a gap that one has not reached it.
    alter table conversations add column sequence integer not null default 0;

    create index chat_events_by_conversation on events (conversation_id, created_at) where type = 'chat:custom';

    -- Entries that have no row of their own (who came and went, what was deleted), kept for listeners that come back.
    create table conversation_signals (
      conversation_id text not null,
      bot_id text not null,
      created_at timestamptz(3) not null,
      signal jsonb not null,
      primary key (conversation_id, created_at),
      foreign key (bot_id, conversation_id) references conversations (bot_id, id) on delete cascade
    );
    create index conversation_signals_by_age on conversation_signals (created_at);

    -- Conversations with entries that wait to be sent to the installation's webhook.
    create table webhook_cursors (
      conversation_id text primary key,
      bot_id text not null,
      -- Entries up to this time are sent, and there are some up to that one.
      delivered timestamptz(3) not null,
      latest timestamptz(3) not null,
      -- Failures in a row, of the entry that is next.
      failures integer not null default 0,
      -- Not before this time.
      due_at timestamptz(3) not null default now(),
      foreign key (bot_id, conversation_id) references conversations (bot_id, id) on delete cascade
    );
    create index webhook_cursors_by_due on webhook_cursors (due_at);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table webhook_cursors, conversation_signals;
    drop index chat_events_by_conversation;
    alter table conversations drop column sequence;
  `)
}
