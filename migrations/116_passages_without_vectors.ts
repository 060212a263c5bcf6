import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The model of embeddings that makes no vector of the passage.
    alter table passages add column without_vector_of text;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table passages drop column without_vector_of')
}
