import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Requests to erase the data of a person. Workers carry them out.
    create table data_requests (
      id text primary key,
      workspace_id text not null references workspaces on delete cascade,
      -- The member who asked; the audit record keeps the account after its deletion.
      account_id text references accounts on delete set null,
      -- Only data of this bot; null: of all bots of the workspace.
      bot_id text references bots on delete cascade,
      erases_findings boolean not null,
      status text not null default 'pending' check (status in ('pending', 'in_progress', 'completed', 'failed')),
      -- Who the person is, encrypted; null once it is no longer needed.
      subject text,
      stage text not null default 'users' check (stage in ('users', 'conversations', 'runs', 'search', 'findings')),
      -- Where the stage continues.
      position jsonb not null default '{}',
      -- Rows by kind.
      erased jsonb not null default '{}',
      searched bigint not null default 0,
      failure_reason text,
      -- Increased by each claim: an older run of the request writes nothing.
      run integer not null default 0,
      due_at timestamptz(3) not null default now(),
      created_at timestamptz(3) not null default now(),
      completed_at timestamptz(3)
    );
    create index data_requests_of_workspace on data_requests (workspace_id, created_at desc, id desc);
    create index data_requests_of_account on data_requests (account_id) where account_id is not null;
    create index data_requests_of_bot on data_requests (bot_id) where bot_id is not null;
    create index data_requests_due on data_requests (due_at) where status in ('pending', 'in_progress');

    -- The users that are the person, and until the end of the request the conversations that only they take part in.
    create table data_request_ids (
      request_id text not null references data_requests on delete cascade,
      kind text not null check (kind in ('user', 'conversation')),
      id text not null,
      bot_id text not null,
      primary key (request_id, kind, id)
    );

    -- Rows that name the person and that a member has to decide about: their addresses, and nothing of their contents.
    create table data_findings (
      request_id text not null references data_requests on delete cascade,
      id text not null,
      kind text not null,
      bot_id text not null,
      address jsonb not null,
      primary key (request_id, id)
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table data_findings; drop table data_request_ids; drop table data_requests;')
}
