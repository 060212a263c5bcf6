import type { Knex } from 'knex'

/** For the numbers of messages in conversations (docs/decisions/0122). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The number of a long conversation's messages up to a time. Later ones are counted when the number is read.
    create table message_counts (
      conversation_id text primary key references conversations on delete cascade,
      counted integer not null,
      counted_until timestamptz(3) not null
    );

    -- For a message with an earlier time than now, an imported one, which may be before the time up to which messages are
    -- counted. A count excludes the bot's transactions with this lock: a later one has their changes.
    create function count_imported_message() returns trigger language plpgsql as $function$
      begin
        perform pg_advisory_xact_lock_shared(hashtext('message counts'), hashtext(new.bot_id));
        update message_counts set counted = counted + 1
        where conversation_id = new.conversation_id and counted_until >= new.created_at;
        return null;
      end $function$;
    create trigger count_imported_message after insert on messages
      for each row when (new.created_at < clock_timestamp() - interval '1 second') execute function count_imported_message();

    create function count_deleted_messages() returns trigger language plpgsql as $function$
      begin
        perform pg_advisory_xact_lock_shared(hashtext('message counts'), hashtext(bot_id))
        from (select distinct bot_id from removed) bots;
        update message_counts set counted = counted - deleted.messages
        from (
          select conversation_id, count(*) as messages from removed join message_counts using (conversation_id)
          where created_at <= counted_until group by conversation_id
        ) deleted
        where message_counts.conversation_id = deleted.conversation_id;
        return null;
      end $function$;
    create trigger count_deleted_messages after delete on messages
      referencing old table as removed for each statement execute function count_deleted_messages();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop trigger count_imported_message on messages;
    drop trigger count_deleted_messages on messages;
    drop function count_imported_message;
    drop function count_deleted_messages;
    drop table message_counts;
  `)
}
