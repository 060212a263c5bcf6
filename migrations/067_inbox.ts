import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- 'integration': begun by the built-in integration inbox. The bot's code handles the events of such conversations.
    alter table handovers drop constraint handovers_requested_by_check;
    alter table handovers add constraint handovers_requested_by_check
      check (requested_by in ('bot', 'member', 'integration')) not valid;
    alter table handovers validate constraint handovers_requested_by_check;
    -- The event whose run began it through the inbox, and prepares the bot for the events of its conversation.
    alter table handovers add column event_id text;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    delete from conversations where id in (select conversation_id from handovers where requested_by = 'integration');
    alter table handovers drop column event_id;
    alter table handovers drop constraint handovers_requested_by_check;
    alter table handovers add constraint handovers_requested_by_check check (requested_by in ('bot', 'member'));
  `)
}
