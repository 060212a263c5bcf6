import type { Knex } from 'knex'

/** @param lock of the webhook, while its news is inserted */
const functionOf = (lock: string) => `
    create or replace function record_handover_news() returns trigger language plpgsql as $function$
    begin
      insert into inbox_news (workspace_id, handover_id, type, account_id)
      select inbox_webhooks.workspace_id, new.id, case
          when tg_op = 'INSERT' then 'handover_created'
          when new.ended_at is not null then 'handover_ended'
          when new.account_id is null then 'handover_released'
          else 'handover_assigned'
        end, new.account_id
      from bots join inbox_webhooks using (workspace_id) where bots.id = new.bot_id${lock};
      return null;
    end $function$;`

export async function up(knex: Knex): Promise<void> {
  // A webhook that is being removed gets no news; without the lock, the foreign key refused the change of the handover.
  await knex.raw(functionOf(' for key share of inbox_webhooks'))
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(functionOf(''))
}
