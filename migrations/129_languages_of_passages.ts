import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The configuration of PostgreSQL's text search by which its words were made, unless that is the one for English.
    alter table passages add column language text;
    drop index passages_by_bot;
    create index passages_by_bot on passages (bot_id, language) include (bytes);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index passages_by_bot;
    create index passages_by_bot on passages (bot_id) include (bytes);
    alter table passages drop column language;
  `)
}
