import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Days after which messages, conversations and users are deleted; what is not named is the operator's default.
    alter table bots add column retention jsonb not null default '{}';
    -- When a conversation that retention has deleted was last active; null while the user had none.
    alter table users add column active_at timestamptz(3);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table users drop column active_at; alter table bots drop column retention')
}
