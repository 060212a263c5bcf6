import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The account that uploaded it. Unknown for versions that are older than this column, and of accounts that are gone.
    alter table bot_versions add column author_id text references accounts (id) on delete set null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`alter table bot_versions drop column author_id`)
}
