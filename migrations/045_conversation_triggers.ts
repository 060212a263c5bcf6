import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Whether a flow of the version begins with a new conversation.
    alter table bot_versions add column starts_with_conversation boolean not null default false
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table bot_versions drop column starts_with_conversation')
}
