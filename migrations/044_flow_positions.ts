import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create index states_of_flows on states (bot_id) where name = '$flow'`)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index states_of_flows')
}
