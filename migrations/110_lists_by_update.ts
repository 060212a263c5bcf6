import type { Knex } from 'knex'

/** For lists of the runtime API that are sorted by `updatedAt`. A message changes neither time. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index users_by_update on users (bot_id, updated_at desc, id desc);
    create index conversations_by_update on conversations (bot_id, updated_at desc, id desc);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index users_by_update; drop index conversations_by_update')
}
