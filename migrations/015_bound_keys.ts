import type { Knex } from 'knex'

/** The form of an internal id after its prefix (`isInternalId`). */
const ulid = '[0-7][0-9A-HJKMNP-TV-Z]{25}'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Keys of chat users name their user from now on. One that does not is this user's if it was made at this time or
    -- later, or together with the user; null when its age does not matter. Users that are there already get the time of
    -- the migration, without their rows being written; 035 has more about those with an external id.
    alter table users add column keys_since timestamptz(3) default now();
    alter table users alter column keys_since drop default;

    -- An id of our shape that a client chose. What of them is there stays; the processes of the version before, which may
    -- run on for a while, make no more of them.
    create function refuse_external_id() returns trigger language plpgsql as $$
      begin
        raise exception 'the external id % has the shape of an internal one', new.foreign_id using errcode = 'check_violation';
      end $$;
    create trigger refuse_external_id before insert on users
      for each row when (new.foreign_id ~ '^(user|bot|conv|msg|evt)_${ulid}$') execute function refuse_external_id();
    create trigger refuse_external_id before insert on conversations
      for each row when (new.foreign_id ~ '^(user|bot|conv|msg|evt)_${ulid}$') execute function refuse_external_id();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop trigger refuse_external_id on conversations;
    drop trigger refuse_external_id on users;
    drop function refuse_external_id;
    alter table users drop column keys_since;
  `)
}
