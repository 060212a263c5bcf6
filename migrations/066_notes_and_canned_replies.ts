import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Texts that members write about a handover. Neither the user nor the bot sees them.
    create table handover_notes (
      id text primary key,
      handover_id text not null references handovers on delete cascade,
      -- The name is kept, because an account can be deleted.
      account_id text references accounts on delete set null,
      name text not null,
      text text not null,
      created_at timestamptz(3) not null default now()
    );
    create index handover_notes_of_handover on handover_notes (handover_id, created_at desc, id desc);
    create index handover_notes_of_account on handover_notes (account_id) where account_id is not null;

    -- Texts that the members of a workspace answer with repeatedly.
    create table canned_replies (
      id text primary key,
      workspace_id text not null references workspaces on delete cascade,
      shortcut text not null,
      text text not null,
      created_at timestamptz(3) not null default now(),
      unique (workspace_id, shortcut)
    );
    create index canned_replies_of_workspace on canned_replies (workspace_id, created_at desc, id desc);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table canned_replies; drop table handover_notes;')
}
