import type { Knex } from 'knex'

/** @param condition of the change, beside that it is one */
const triggerOf = (condition: string) => `
    drop trigger record_handover_change on handovers;
    create trigger record_handover_change after update of account_id, ended_at on handovers for each row
      when (${condition}(old.account_id, old.ended_at) is distinct from (new.account_id, new.ended_at))
      execute function record_handover_news();`

export async function up(knex: Knex): Promise<void> {
  // The deletion of an account removes it from the handovers that it has answered: that is no second end of them.
  await knex.raw(triggerOf('old.ended_at is null and '))
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(triggerOf(''))
}
