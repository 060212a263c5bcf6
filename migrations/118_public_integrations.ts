import type { Knex } from 'knex'

/** For the list of the public integrations: their definitions, which may be long, are not read to find them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index integrations_by_public_time on integrations (created_at, id) where definition ->> 'visibility' = 'public';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index integrations_by_public_time')
}
