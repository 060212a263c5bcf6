import type { Knex } from 'knex'

/** The caution for the time in which old and new processes run side by side. */
export const untilReplaced =
  'conversations keep their place in lists of members when processes of the former version store messages in them: until their next message'

/**
 * For the list of a bot's conversations by their newest message (docs/decisions/0120). The table is written once and locked
 * meanwhile: an update of all rows before would take several times as long (docs/upgrading.md has the time).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function newest_message_of(text) returns timestamptz language plpgsql stable as $function$
      begin
        return (select created_at from messages where conversation_id = $1 order by created_at desc, id desc limit 1);
      end $function$;

    alter table conversations add column messaged_at timestamptz(3) not null default now();
    alter table conversations
      -- When its newest message was stored; without messages, when it was created.
      alter column messaged_at type timestamptz(3) using greatest(created_at, newest_message_of(id)),
      -- The ten minutes of that. Indexed in its place: an update that changes no indexed column writes to no index.
      add column messaged_in timestamptz(3) not null
        generated always as (date_bin('10 minutes', messaged_at, timestamptz '2000-01-01 00:00:00Z')) stored;
    create index conversations_by_message on conversations (bot_id, messaged_in desc);
    drop function newest_message_of(text);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index conversations_by_message;
    alter table conversations drop column messaged_in;
    alter table conversations drop column messaged_at;
  `)
}
