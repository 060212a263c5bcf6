import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Dead letters, which people look through by bot, those that failed last first.
    create index events_failed on events (bot_id, ended_at desc, id desc) where status = 'failed';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index events_failed')
}
