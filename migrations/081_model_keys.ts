import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A workspace's own keys of hosted providers of language models, encrypted for the workspace and the provider.
    create table model_keys (
      id text primary key,
      workspace_id text not null references workspaces on delete cascade,
      provider text not null,
      key text not null,
      set_by text references accounts on delete set null,
      set_at timestamptz not null default now(),
      unique (workspace_id, provider)
    );
    create index model_keys_by_account on model_keys (set_by) where set_by is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table model_keys')
}
