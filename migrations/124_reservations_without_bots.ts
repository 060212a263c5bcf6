import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A reservation outlives its bot: it counts as spent in the budget of the workspace too, until it is settled or released.
    alter table model_reservations drop constraint model_reservations_bot_id_fkey;
    drop index model_reservations_by_bot;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    delete from model_reservations where bot_id not in (select id from bots);
    create index model_reservations_by_bot on model_reservations (bot_id);
    alter table model_reservations
      add constraint model_reservations_bot_id_fkey foreign key (bot_id) references bots on delete cascade;
  `)
}
