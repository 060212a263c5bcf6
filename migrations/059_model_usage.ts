import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What a bot used of a language model on a day, in UTC. The cost is an estimate in US dollars.
    create table model_usage (
      bot_id text not null references bots on delete cascade,
      day date not null,
      model text not null,
      calls bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cost numeric not null,
      primary key (bot_id, day, model)
    );

    -- Upper bounds of a bot or of a workspace.
    create table model_budgets (
      owner_id text primary key,
      bot_id text references bots on delete cascade,
      workspace_id text references workspaces on delete cascade,
      limits jsonb not null,
      check (num_nonnulls(bot_id, workspace_id) = 1)
    );
    create index model_budgets_by_bot on model_budgets (bot_id) where bot_id is not null;
    create index model_budgets_by_workspace on model_budgets (workspace_id) where workspace_id is not null;

    -- What a bot or a workspace used in a day or a month, with the reservations of the calls in flight.
    create table model_spending (
      owner_id text not null,
      period text not null,
      start date not null,
      bot_id text references bots on delete cascade,
      workspace_id text references workspaces on delete cascade,
      tokens bigint not null,
      cost numeric not null,
      primary key (owner_id, period, start),
      check (num_nonnulls(bot_id, workspace_id) = 1),
      check (period in ('day', 'month'))
    );
    create index model_spending_by_bot on model_spending (bot_id) where bot_id is not null;
    create index model_spending_by_workspace on model_spending (workspace_id) where workspace_id is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table model_spending; drop table model_budgets; drop table model_usage')
}
