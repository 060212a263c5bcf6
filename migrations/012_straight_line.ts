import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- An event is updated twice, soon after it was stored: with room left in its page, the claim changes no index.
    alter table events set (fillfactor = 70);
    alter table conversations set (fillfactor = 80);

    -- A column that most rows leave empty is in no index: it would be written with each of them, and read in the place of better ones.
    drop index events_by_installation;
    create index events_by_installation on events (installation_id) where installation_id is not null;
    drop index states_by_installation;
    create index states_by_installation on states (installation_id) where installation_id is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index states_by_installation;
    create index states_by_installation on states (installation_id);
    drop index events_by_installation;
    create index events_by_installation on events (installation_id);
    alter table conversations reset (fillfactor);
    alter table events reset (fillfactor);
  `)
}
