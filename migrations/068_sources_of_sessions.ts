import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The conversation whose event began a handover of the inbox: the session has a copy of its messages, and is deleted with it.
    alter table handovers add column source_conversation_id text;
    create index handovers_of_source on handovers (source_conversation_id) where source_conversation_id is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table handovers drop column source_conversation_id')
}
