import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Tenants and who administers them ---------------------------------------------------------------------------

    create table workspaces (
      id text primary key,
      name text not null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    );

    create table accounts (
      id text primary key,
      name text not null,
      created_at timestamptz(3) not null default now()
    );

    create table members (
      workspace_id text not null references workspaces on delete cascade,
      account_id text not null references accounts on delete cascade,
      role text not null check (role in ('viewer', 'developer', 'administrator', 'owner')),
      created_at timestamptz(3) not null default now(),
      primary key (workspace_id, account_id)
    );
    create index members_by_account on members (account_id);

    create table bots (
      id text primary key,
      workspace_id text not null references workspaces on delete cascade,
      name text not null,
      -- The version in service; null until code is uploaded.
      version_id text,
      -- Hosts that its code may reach, granted by the administrator and never by the code itself.
      permissions jsonb not null default '{}',
      deployed_at timestamptz(3) not null default now(),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    );
    create index bots_by_workspace on bots (workspace_id, created_at desc, id desc);

    create table bot_versions (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      -- SHA-256 of the source, in hexadecimal.
      hash text not null,
      -- As uploaded, what runs of it, and how positions in the one lead to the other.
      source text not null,
      script text not null,
      source_map text not null,
      hooks text[] not null,
      actions text[] not null,
      retry jsonb,
      created_at timestamptz(3) not null default now(),
      unique (bot_id, id)
    );
    alter table bots add constraint bots_version_fkey
      foreign key (id, version_id) references bot_versions (bot_id, id);

    create table tokens (
      id text primary key,
      -- SHA-256 of the secret; the secret itself is nowhere.
      hash bytea not null unique,
      kind text not null check (kind in ('personal', 'bot')),
      account_id text references accounts on delete cascade,
      bot_id text references bots on delete cascade,
      note text not null default '',
      created_at timestamptz(3) not null default now(),
      check ((kind = 'personal') = (account_id is not null)),
      check ((kind = 'bot') = (bot_id is not null))
    );
    create index tokens_by_account on tokens (account_id);
    create index tokens_by_bot on tokens (bot_id);

    create table installations (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      integration text not null,
      alias text not null,
      webhook_id text not null unique,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      unique (bot_id, id),
      unique (bot_id, alias)
    );

    -- Users, conversations and messages --------------------------------------------------------------------------

    create table users (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      installation_id text,
      -- The id that a client chose for the user.
      foreign_id text,
      name text,
      picture_url text,
      profile text,
      tags jsonb not null default '{}',
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      unique (bot_id, id),
      unique (installation_id, foreign_id),
      foreign key (bot_id, installation_id) references installations (bot_id, id) on delete cascade
    );

    create table conversations (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      installation_id text not null,
      foreign_id text,
      owner_id text,
      channel text not null,
      tags jsonb not null default '{}',
      -- The newest createdAt given out in this conversation. Who writes here locks this row, so that what happens in
      -- one conversation has one order, the same in the database as in every answer.
      clock timestamptz(3) not null default now(),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      unique (bot_id, id),
      unique (installation_id, foreign_id),
      foreign key (bot_id, installation_id) references installations (bot_id, id) on delete cascade,
      foreign key (bot_id, owner_id) references users (bot_id, id) on delete set null (owner_id)
    ) with (fillfactor = 80);
    create index conversations_by_owner on conversations (owner_id, created_at desc, id desc);

    create table participants (
      conversation_id text not null,
      user_id text not null,
      bot_id text not null,
      created_at timestamptz(3) not null default now(),
      primary key (conversation_id, user_id),
      foreign key (bot_id, conversation_id) references conversations (bot_id, id) on delete cascade,
      foreign key (bot_id, user_id) references users (bot_id, id) on delete cascade
    );
    create index participants_by_user on participants (user_id);

    create table messages (
      id text primary key,
      bot_id text not null,
      conversation_id text not null,
      -- No foreign key: what a user said stays when the user is deleted.
      user_id text not null,
      type text not null,
      payload jsonb not null,
      metadata jsonb,
      tags jsonb not null default '{}',
      direction text not null check (direction in ('incoming', 'outgoing')),
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      foreign key (bot_id, conversation_id) references conversations (bot_id, id) on delete cascade
    );
    create index messages_by_conversation on messages (conversation_id, created_at desc, id desc);

    -- Events of the bot, and their outcomes ---------------------------------------------------------------------

    create table events (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      -- Events of one mailbox are handled one at a time, in order: the conversation's id, or else the event's own.
      mailbox text not null,
      conversation_id text,
      user_id text,
      message_id text,
      integration text,
      type text not null,
      direction text not null default 'incoming' check (direction in ('incoming', 'outgoing')),
      payload jsonb not null,
      status text not null default 'pending' check (status in ('pending', 'processed', 'ignored', 'failed')),
      -- Counts the runs begun. Only the newest run may end the event or write on its behalf.
      attempt integer not null default 0,
      -- Runs that failed by the bot's own doing, which its retry policy counts.
      failures integer not null default 0,
      -- Not before this time.
      available_at timestamptz(3) not null default now(),
      failure_reason text,
      -- The result of an action that was called over HTTP.
      result jsonb,
      started_at timestamptz(3),
      ended_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      foreign key (bot_id, conversation_id) references conversations (bot_id, id) on delete cascade
    );
    create index events_waiting on events (mailbox, created_at, id) where status = 'pending';
    create index events_by_bot on events (bot_id, created_at desc, id desc);
    create index events_by_conversation on events (conversation_id);

    create table states (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      type text not null check (type in ('bot', 'user', 'conversation')),
      -- The bot, user or conversation whose state it is.
      owner_id text not null,
      name text not null,
      payload jsonb not null,
      -- Milliseconds after the last change at which the state is forgotten.
      expiry bigint,
      expires_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      unique (bot_id, type, owner_id, name)
    );

    create table effects (
      event_id text not null references events on delete cascade,
      -- The call of the run: the operation, under the action that called it, and its number among such calls.
      operation text not null,
      ordinal integer not null,
      input_hash text not null,
      result jsonb not null,
      created_at timestamptz(3) not null default now(),
      primary key (event_id, operation, ordinal)
    );

    create table logs (
      id bigint generated always as identity primary key,
      bot_id text not null references bots on delete cascade,
      event_id text,
      conversation_id text,
      level text not null check (level in ('debug', 'info', 'warn', 'error')),
      message text not null,
      created_at timestamptz(3) not null
    );
    create index logs_by_bot on logs (bot_id, created_at desc, id desc);
    create index logs_by_event on logs (event_id);

    -- Work between the processes ---------------------------------------------------------------------------------

    -- Code that waits for a worker to say what it declares. The api process runs no bot, not even to look at it.
    create table inspections (
      id text primary key,
      workspace_id text not null references workspaces on delete cascade,
      script text not null,
      outcome jsonb,
      created_at timestamptz(3) not null default now()
    );

    -- Signals too large for NOTIFY; a listener fetches them by id. Losing them in a crash costs nobody a message.
    create unlogged table large_signals (
      id uuid primary key default gen_random_uuid(),
      body text not null,
      created_at timestamptz(3) not null default now()
    );
    create index large_signals_by_age on large_signals (created_at);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table large_signals, inspections, logs, effects, states, events, messages, participants, conversations, users,
      installations, tokens, bot_versions, bots, members, accounts, workspaces cascade;
  `)
}
