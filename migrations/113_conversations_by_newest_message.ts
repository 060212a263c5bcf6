import type { Knex } from 'knex'

/** The caution for the time in which old and new processes run side by side. */
export const untilReplaced =
  'conversations keep their place in lists of members when processes of the former version store messages in them: until their next message'

/** For the list of a bot's conversations by their newest message (docs/decisions/0120). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- When its newest message was stored; without messages, when it was created.
    alter table conversations add column messaged_at timestamptz(3) not null default now();
    update conversations set messaged_at = greatest(created_at, (
      select created_at from messages where conversation_id = conversations.id order by created_at desc, id desc limit 1
    ));
    -- The ten minutes of that. Indexed in its place: an update that changes no indexed column writes to no index.
    alter table conversations add column messaged_in timestamptz(3) not null
      generated always as (date_bin('10 minutes', messaged_at, timestamptz '2000-01-01 00:00:00Z')) stored;
    create index conversations_by_message on conversations (bot_id, messaged_in desc);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index conversations_by_message;
    alter table conversations drop column messaged_in;
    alter table conversations drop column messaged_at;
  `)
}
