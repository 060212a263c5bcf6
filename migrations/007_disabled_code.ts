import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Code that killed sandbox processes even in quarantine: it runs no more. Another upload has another id.
    create table disabled_code (
      bot_id text not null references bots on delete cascade,
      -- A version of the bot, or the code of an integration that is installed on it.
      code_id text not null,
      reason text not null,
      created_at timestamptz(3) not null default now(),
      primary key (bot_id, code_id)
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table disabled_code')
}
