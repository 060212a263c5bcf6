import type { Knex } from 'knex'

/** The caution for the time in which old and new processes run side by side. */
export const untilReplaced =
  'workers of the former version hand events to the bot although people answer: begin no handover until all workers are replaced'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Times in which people answer in a conversation and the bot's code does not run. A conversation has one at most.
    create table handovers (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      conversation_id text not null references conversations on delete cascade,
      status text not null check (status in ('pending', 'assigned', 'resolved', 'expired')),
      title text,
      description text,
      requested_by text not null check (requested_by in ('bot', 'member')),
      -- The member who answers; null while it is pending.
      account_id text references accounts on delete set null,
      created_at timestamptz(3) not null default now(),
      assigned_at timestamptz(3),
      first_reply_at timestamptz(3),
      expires_at timestamptz(3),
      ended_at timestamptz(3)
    );
    create unique index handovers_in_progress on handovers (conversation_id) where ended_at is null;
    create index handovers_of_bot on handovers (bot_id, created_at desc, id desc);
    create index handovers_open on handovers (bot_id, created_at desc, id desc) where ended_at is null;
    create index handovers_of_conversation on handovers (conversation_id);
    create index handovers_of_account on handovers (account_id) where account_id is not null;
    create index handovers_due on handovers (expires_at) where ended_at is null and expires_at is not null;

    -- The handover in progress; null while the bot answers. A run reads it with its event.
    alter table conversations add column handover_id text;
    -- The handover because of which no code handled the event.
    alter table events add column handover_id text;

    -- The users of the built-in chats as whom members answer.
    create table member_users (
      installation_id text not null references installations on delete cascade,
      account_id text not null references accounts on delete cascade,
      user_id text not null references users on delete cascade,
      primary key (installation_id, account_id)
    );
    create index member_users_of_account on member_users (account_id);
    create index member_users_of_user on member_users (user_id);

    -- The members who wrote messages. The name is kept, because an account can be deleted.
    create table member_messages (
      message_id text primary key references messages on delete cascade,
      handover_id text not null references handovers on delete cascade,
      account_id text references accounts on delete set null,
      name text not null
    );
    create index member_messages_of_handover on member_messages (handover_id);
    create index member_messages_of_account on member_messages (account_id) where account_id is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table member_messages;
    drop table member_users;
    alter table events drop column handover_id;
    alter table conversations drop column handover_id;
    drop table handovers;
  `)
}
