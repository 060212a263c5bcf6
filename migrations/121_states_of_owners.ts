import type { Knex } from 'knex'

/** States go with the row of their owner, which no foreign key can name (docs/decisions/0144). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function delete_states() returns trigger language plpgsql as $function$
      begin
        -- Arrays, for which a plan that was made while there were few states uses the index too.
        delete from states
        where bot_id = any(array(select distinct bot_id from removed)) and type = tg_argv[0]
          and owner_id = any(array(select id from removed));
        return null;
      end $function$;
    create trigger delete_states after delete on users
      referencing old table as removed for each statement execute function delete_states('user');
    create trigger delete_states after delete on conversations
      referencing old table as removed for each statement execute function delete_states('conversation');
    create trigger delete_states after delete on workflows
      referencing old table as removed for each statement execute function delete_states('workflow');
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop trigger delete_states on users;
    drop trigger delete_states on conversations;
    drop trigger delete_states on workflows;
    drop function delete_states;
  `)
}
